"""The HTTP gate: which call sends, which passes, who may call, and what is answered."""

import asyncio
import logging
import re
from ipaddress import ip_address, ip_network

from api.gates.error import GateError
from api.gates.http.call import Answer, BadCall, Call, json_answer
from api.gates.http.configuration import HttpGateFile
from api.gates.http.credentials import sha256_of
from api.gates.http.delivery import Delivery
from api.gates.http.item import Item
from api.gates.http.provider import Provider, Route, Rules
from api.gates.http.registry import PROVIDERS
from api.gates.http.upstream import Away, Upstream, trusted_by
from api.gates.purpose import Unit
from api.gates.sender import Sender, open_sender
from api.gates.under_way import UnderWay

_log = logging.getLogger("ledger.gate")
_PLAIN_PATH = re.compile(r"(/([A-Za-z0-9@._~+:=,<>-]|%(40|3[CcEe]|20|2[Bb]))+)+/?")
"""Paths that every server reads alike: no doubled slashes, no hidden ones."""
_LONG = 64 * 1024
"""Bytes from which on a call is read in a thread, so that others need not wait."""


class HttpGate:
    """A gate with its clients of the ledger, and of the providers. Raises GateError."""

    def __init__(self, file: HttpGateFile) -> None:
        self.file = file
        self._under_way = UnderWay()
        trusted = trusted_by(file)
        self._upstreams = {name: Upstream(one, file, trusted) for name, one in PROVIDERS.items()}
        seconds = file.bounds.ledger_seconds
        self._senders = {
            one.provider_key_sha256: open_sender(file, seconds, one.name, one.key, one.refused)
            for one in file.login
        }
        self._anonymous: Sender | None = None
        anonymous = file.anonymous
        if anonymous is not None:
            self._anonymous = open_sender(file, seconds, None, anonymous.key, anonymous.refused)
        try:
            self._networks = [ip_network(one) for one in anonymous.networks] if anonymous else []
        except ValueError as error:
            raise GateError(f"anonymous.networks: {error}") from error

    def provider(self, path: str) -> tuple[Provider | None, str]:
        """The provider of a path, and the path below its prefix."""
        name, slash, rest = path.removeprefix("/").partition("/")
        if name in PROVIDERS:
            return PROVIDERS[name], f"{slash}{rest}"
        return PROVIDERS.get(self.file.root or ""), path

    async def answer(self, provider: Provider, call: Call, peer: str) -> Answer:
        """The answer to a call from this address."""
        try:
            credential = provider.credential(call)
            if credential is None:
                raise BadCall("the call has no key of the provider", 401, "unauthorized")
            sender = self._sender(credential, peer)
            if sender is None:
                why = "the gate knows no login with this key, and lets no other in from there"
                raise BadCall(why, 401, "unauthorized")
            route = provider.route(call.path) if call.method == "POST" else None
            if route is not None:
                return await self._sent(provider, route, call, sender)
            return await self._passed_on(provider, call)
        except BadCall as bad:
            return provider.error(bad.status or provider.denied, bad.code, f"{bad.code}: {bad}")
        except Away as away:
            return provider.error(503, "unavailable", f"unavailable: {away}")

    async def end(self) -> None:
        """Wait for the mails under way, and close the clients."""
        await self._under_way.end()
        for upstream in self._upstreams.values():
            await upstream.close()
        senders = [*self._senders.values(), *([self._anonymous] if self._anonymous else [])]
        for sender in senders:
            await sender.ledger.close()

    async def _sent(self, provider: Provider, route: Route, call: Call, sender: Sender) -> Answer:
        """The answer to a call of a sending endpoint. Raises BadCall before anything is asked."""
        if call.query:
            raise BadCall("a sending call has no query", 400)
        delivery = Delivery(self.file, sender, self._upstreams[provider.name], call)
        if len(call.body) < _LONG:
            items, units = self._read(provider, route, call, delivery)
        else:
            items, units = await asyncio.to_thread(self._read, provider, route, call, delivery)
        return await self._under_way.see_through(delivery.answer(route, items, units))

    def _read(
        self, provider: Provider, route: Route, call: Call, delivery: Delivery
    ) -> tuple[list[Item], list[list[Unit]]]:
        also = frozenset(self.file.fields.get(provider.name, ()))
        items = provider.items(route, call, Rules(self.file.bounds.mails, also))
        return items, delivery.units(items)

    async def _passed_on(self, provider: Provider, call: Call) -> Answer:
        """The answer to a call that cannot send. Raises BadCall for one that might, and Away."""
        is_plain = _PLAIN_PATH.fullmatch(call.path) is not None
        dots = any(part in (".", "..") for part in call.path.split("/"))
        if not is_plain or dots or not provider.passes.fullmatch(f"{call.method} {call.path}"):
            why = (
                f"the gate does not pass {call.method} on this path: it might send mail without a "
                "permit. Use the endpoints that the guide of the HTTP gate lists"
            )
            raise BadCall(why, 403, "not_guarded")
        return await self._upstreams[provider.name].pass_on(call)

    def _sender(self, credential: str, peer: str) -> Sender | None:
        known = self._senders.get(sha256_of(credential))
        if known is not None or self._anonymous is None:
            return known
        try:
            address = ip_address(peer.partition("%")[0])
        except ValueError:
            return None
        mapped = getattr(address, "ipv4_mapped", None) or address
        return self._anonymous if any(mapped in one for one in self._networks) else None


def unknown_provider() -> Answer:
    """The answer outside of every provider's prefix."""
    names = ", ".join(f"/{name}/" for name in PROVIDERS)
    return json_answer(404, {"message": f"the gate answers under {names}"})
