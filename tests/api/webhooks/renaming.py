"""Gives sample bodies unique ids, so that tests on one ledger do not affect each other."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.unit.webhooks.bodies import known, provider_of, sample, settings

_IDS = (
    "invoice_id",
    "customer_id",
    "payment_id",
    "credit_id",
    "event_id",
    "attempt_id",
    "refund_id",
    "thread_id",
    "message_id",
    "provider_message_id",
    "subscription_id",
)
_ADDRESSES = ("email", "from", "to", "emails", "recipient", "address", "reply_to")


@dataclass(frozen=True)
class Renamed:
    """The sample at `path` with every id and address marked; `mark` is hex digits."""

    path: str
    mark: str

    @property
    def provider(self) -> str:
        """Who posts it."""
        return provider_of(self.path)

    @property
    def body(self) -> bytes:
        """The bytes to post, before a signature inside them."""
        raw = sample(self.path)
        if self.path.endswith(".xml"):
            return _in_xml(raw, self._rename(_names(self.provider, raw)))
        rename = self._rename(_names(self.provider, raw))
        return json.dumps(_in_json(json.loads(raw), rename, self.number)).encode()

    def id(self, name: str) -> str:
        """What an id of the sample is called here."""
        return (
            f"<{name.strip('<>')}.{self.mark}>" if name.startswith("<") else f"{name}.{self.mark}"
        )

    def address(self, address: str) -> str:
        """What an address of the sample is here."""
        local, _, domain = address.partition("@")
        return f"{local}+{self.mark}@{domain}"

    def number(self, value: int) -> int:
        """What Recurly's number of an invoice is here."""
        return value * 10**9 + int(self.mark, 16) % 10**9

    def _rename(self, names: tuple[set[str], set[str]]) -> Callable[[str], str]:
        ids, addresses = names
        bare = {id_.strip("<>") for id_ in ids}

        def rename(text: str) -> str:
            if text in ids or text in bare:
                return self.id(text)
            for address in addresses:
                text = re.sub(rf"(?<![\w.+-]){re.escape(address)}", self.address(address), text)
            return text

        return rename


def _names(provider: str, raw: bytes) -> tuple[set[str], set[str]]:
    """The ids and addresses in the facts of the body, and what its events are called."""
    ids: set[str] = set()
    addresses: set[str] = set()
    for fact in known(provider).translate({}, raw, settings(provider)).facts:
        ids |= {str(fact.data[name]) for name in _IDS if fact.data.get(name)}
        ids |= {fact.id, fact.id.partition(":")[0], *fact.id.split("/")}
        headers = fact.data.get("headers")
        if isinstance(headers, dict):
            ids.add(str(headers.get("message-id", "")))
        for name in _ADDRESSES:
            value = fact.data.get(name) or []
            addresses |= {value} if isinstance(value, str) else set(value)  # type: ignore[call-overload]
    return ids - {""}, addresses


def _in_json(value: Any, rename: Callable[[str], str], number: Callable[[int], int]) -> Any:
    if isinstance(value, dict):
        return {
            key: number(item)
            if key == "invoice_number" and isinstance(item, int)
            else _in_json(item, rename, number)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_in_json(item, rename, number) for item in value]
    if not isinstance(value, str):
        return value
    if value.startswith('{"'):
        return json.dumps(_in_json(json.loads(value), rename, number))
    return rename(value)


def _in_xml(raw: bytes, rename: Callable[[str], str]) -> bytes:
    def leaf(match: re.Match[str]) -> str:
        return f">{rename(match.group(1))}</"

    return re.sub(r">([^<>]+)</", leaf, raw.decode()).encode()
