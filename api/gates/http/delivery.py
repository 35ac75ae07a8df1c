"""The mails of one call: for each permit ask, redeem, hand over, report."""

import asyncio
import logging
from collections.abc import Sequence
from email.utils import parseaddr

from sendledger import Denied, InDoubt, Permit, Refused, Unavailable
from sendledger.adapters.addressing import check_time

from api.gates.carried import BEEN_HERE, OTHER_ADDRESS, PERMIT, carried, is_for_another
from api.gates.fate import Fate
from api.gates.http.call import Answer, BadCall, Call
from api.gates.http.configuration import HttpGateFile
from api.gates.http.item import Item
from api.gates.http.provider import Outgoing, Route
from api.gates.http.results import Result, denied_result, later, told_of, whole
from api.gates.http.upstream import OF_THE_KEY, Away, SaidNo, Upstream, with_message_id
from api.gates.purpose import BadHeader, Envelope, Unit, units_of
from api.gates.sender import Sender

_log = logging.getLogger("ledger.gate")
_EVENT_TYPE = "http_mail"
"""What a mail is that is named by its fingerprint."""
_DOUBT = "outcome_unknown"
_WITH = "It is not sent again before somebody has found out."
_WITHOUT = "It has no permit: a repeat sends it again."


class Delivery:
    """The way of a call's mails; nothing of them is kept."""

    def __init__(self, file: HttpGateFile, sender: Sender, upstream: Upstream, call: Call) -> None:
        self._file, self._sender, self._upstream, self._call = file, sender, upstream, call
        self._until = asyncio.get_running_loop().time() + file.bounds.call_seconds
        self._ended: tuple[str, str, Answer | None] | None = None

    def units(self, items: Sequence[Item]) -> list[list[Unit]]:
        """The permits that each mail needs. Raises BadCall."""
        found = []
        for item in items:
            recipients = item.addressed.everybody()
            if not recipients:
                raise BadCall("the mail names no recipient")
            if len(recipients) > self._file.bounds.recipients:
                raise BadCall(f"a mail has {self._file.bounds.recipients} recipients at most", 413)
            if PERMIT.lower().removeprefix("x-ledger-") in item.said:
                raise BadCall(BEEN_HERE)
            sender = parseaddr(item.sender)[1] or item.sender
            envelope = Envelope(self._sender.login, sender, recipients, _EVENT_TYPE)
            try:
                found.append(units_of(item, envelope, self._file.rule, self._sender.key))
            except BadHeader as error:
                raise BadCall(str(error)) from error
        return found

    async def answer(
        self, route: Route, items: Sequence[Item], units: Sequence[Sequence[Unit]]
    ) -> Answer:
        """The one answer to the call; `units` are those of each mail."""
        provider = self._upstream.provider
        found = [await self.results(*each) for each in zip(items, units, strict=True)]
        if route.together is None:
            return whole(provider, items[0], [one for each in found for one in each]).answer
        wholes = [whole(provider, item, each) for item, each in zip(items, found, strict=True)]
        is_about_the_call = found[0][0].ends_all
        if is_about_the_call or all(one.fate is Fate.LATER for one in wholes):
            return wholes[0].answer
        return route.together(self._call, wholes, told_of(wholes))

    async def results(self, item: Item, units: Sequence[Unit]) -> list[Result]:
        """What became of a mail; once ledger or upstream is away no further one is tried."""
        results: list[Result] = []
        waiting = list(units)
        while waiting:
            unit = waiting.pop(0)
            if self._ended is None and asyncio.get_running_loop().time() > self._until:
                self._ended = "unavailable", "the call took too long", None
            if self._ended is not None:
                code, text, answer = self._ended
                fate = Fate.LATER
                results.append(Result(unit.recipients, fate, code, text, answer, bool(answer)))
                continue
            result = await self._one(item, unit)
            if result is None:
                waiting[:0] = unit.instead
                continue
            _log.info("%s: %s", result.fate.value, result.code or "delivered")
            results.append(result)
        return results

    async def _one(self, item: Item, unit: Unit) -> Result | None:
        """The result; None where something else is to be asked for instead."""
        who = unit.recipients
        try:
            await self._upstream.check(self._call)
            if unit.ask is None:
                mail = self._outgoing(item, unit, None)
                _, answer = await self._upstream.hand_over(self._call, mail)
                return Result(who, Fate.SENT, answer=answer)
            granted = await self._sender.ledger.ask(unit.ask)
            if is_for_another(granted, who[0]):
                return Result(who, Fate.REFUSED, "other_address", OTHER_ADDRESS)
            async with self._sender.ledger.redeem(granted) as permit:
                mail = self._outgoing(item, unit, permit)
                check_time(permit)
                delivered, answer = await self._upstream.hand_over(self._call, mail)
                permit.sent(with_message_id(delivered, item.first("Message-ID")))
            return Result(who, Fate.SENT, answer=answer)
        except Denied as denied:
            if denied.code == "unknown_message" and unit.instead:
                return None
            return denied_result(who, denied, unit.refused or self._sender.refused)
        except SaidNo as no:
            return self._said_no(who, no)
        except InDoubt as doubt:
            text = f"{_DOUBT}: {doubt}. {_WITH if unit.ask else _WITHOUT}"
            return later(who, _DOUBT, text)
        except (Away, Refused, Unavailable) as error:
            self._ended = "unavailable", f"unavailable: {error}", None
            return later(who, "unavailable", f"unavailable: {error}")

    def _said_no(self, who: tuple[str, ...], no: SaidNo) -> Result:
        """Upstream's own no: its answer goes back as it is."""
        status = no.answer.status
        is_of_call = status in OF_THE_KEY
        if is_of_call:
            self._ended = f"http_{status}", no.detail, no.answer
        fate = Fate.LATER if status == 429 else Fate.REFUSED
        return Result(who, fate, f"http_{status}", no.detail, no.answer, is_of_call)

    def _outgoing(self, item: Item, unit: Unit, permit: Permit | None) -> Outgoing:
        added = carried(permit, item.first("Message-ID")) if permit is not None else {}
        addressed = item.addressed.only(unit.recipients)
        return self._upstream.provider.outgoing(item, addressed, added, permit)
