"""One mail through the gate: for each permit ask, redeem, hand over, report; then one reply.

Nothing of the mail is kept. A program that goes away while its mail is handed over changes nothing:
what became of the mail is reported all the same.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence

from sendledger import Delivered, Denied, Granted, InDoubt, Unavailable

from api.gates.carried import BEEN_HERE, OTHER_ADDRESS, PERMIT, carried, is_for_another
from api.gates.fate import Fate
from api.gates.purpose import BadHeader, Envelope, Unit, units_of
from api.gates.sender import Sender
from api.gates.smtp.configuration import GateFile
from api.gates.smtp.mail import Mail
from api.gates.smtp.replies import Result, later, refused, reply_to
from api.gates.smtp.upstream import Away, SaidNo, UpstreamConnection

_log = logging.getLogger("ledger.gate")
_LONG = 64 * 1024
"""Bytes from which on a mail is read in a thread, so that others need not wait."""


class Transaction:
    """A mail that a program handed to the gate; `options` are those of its MAIL command."""

    def __init__(
        self,
        file: GateFile,
        sender: Sender,
        envelope: Envelope,
        options: Sequence[str],
        upstream: UpstreamConnection,
    ) -> None:
        self._file, self._sender, self._envelope = file, sender, envelope
        self._options, self._upstream = options, upstream
        self._until = asyncio.get_running_loop().time() + file.bounds.transaction_seconds

    async def reply(self, content: bytes) -> str:
        """The reply to the data. Raises nothing that says something of the mail."""
        if b"\0" in content:
            return "550 5.6.0 a mail holds no NUL"
        try:
            if len(content) < _LONG:
                mail, units = self._read(content)
            else:
                mail, units = await asyncio.to_thread(self._read, content)
        except BadHeader as error:
            return f"550 5.6.0 {error}"
        if mail.first(PERMIT) is not None:
            return f"554 5.4.6 {BEEN_HERE}"
        try:
            results = await self._all(mail, units)
        finally:
            await self._upstream.close()
        for result in results:
            _log.info("%s: %d %s", result.fate.value, result.code, result.text.partition(":")[0])
        return reply_to(results)

    def _read(self, content: bytes) -> tuple[Mail, list[Unit]]:
        mail = Mail(content)
        return mail, units_of(mail, self._envelope, self._file.rule, self._sender.key)

    async def _all(self, mail: Mail, units: Iterable[Unit]) -> list[Result]:
        """The result of each; once ledger or upstream is away no further one is tried."""
        results: list[Result] = []
        away: str | None = None
        waiting = list(units)
        while waiting:
            unit = waiting.pop(0)
            if away is None and asyncio.get_running_loop().time() > self._until:
                away = "the mail took too long"
            if away is not None:
                results.append(later(unit.recipients, away))
                continue
            try:
                result = await self._one(mail, unit)
                if result is None:
                    waiting[:0] = unit.instead
                else:
                    results.append(result)
            except (Away, Unavailable) as error:
                away = (
                    str(error) if isinstance(error, Unavailable) else f"upstream is away: {error}"
                )
                results.append(later(unit.recipients, away))
        return results

    async def _one(self, mail: Mail, unit: Unit) -> Result | None:
        """The result; None where something else is to be asked for instead.

        Raises Away or Unavailable: nothing was handed over.
        """
        try:
            await self._upstream.begin(self._envelope.sender, unit.recipients, self._options)
            if unit.ask is None:
                said = await self._upstream.hand_over(mail.stripped())
            else:
                granted = await self._sender.ledger.ask(unit.ask)
                if is_for_another(granted, unit.recipients[0]):
                    return Result(unit.recipients, Fate.REFUSED, 550, "5.7.1", OTHER_ADDRESS)
                said = await self._redeemed(mail, granted)
        except Denied as denied:
            if denied.code == "unknown_message" and unit.instead:
                return None
            return refused(unit.recipients, denied, unit.refused or self._sender.refused)
        except SaidNo as no:
            if no.code < 500:
                # Not 421: it is upstream that ends, not the gate.
                return Result(unit.recipients, Fate.LATER, 451, *_status(451, no.text))
            return Result(unit.recipients, Fate.REFUSED, no.code, *_status(no.code, no.text))
        except InDoubt as doubt:
            text = f"outcome_unknown: {doubt}. It is not sent again before somebody has found out"
            return later(unit.recipients, text, "4.4.2")
        return Result(unit.recipients, Fate.SENT, 250, *_status(250, said))

    async def _redeemed(self, mail: Mail, granted: Granted) -> str:
        own = mail.first("Message-ID")
        async with self._sender.ledger.redeem(granted) as permit:
            said = await self._upstream.hand_over(mail.dressed(carried(permit, own)))
            permit.sent(Delivered(provider="smtp", message_id=own))
        return said


def _status(code: int, text: str) -> tuple[str, str]:
    """Upstream's enhanced status code (RFC 2034), else a general one, and the text without it."""
    first, _, rest = text.partition(" ")
    parts = first.split(".")
    if len(parts) == 3 and all(part.isdigit() for part in parts):
        return first, rest or "OK"
    return f"{code // 100}.0.0", text or "OK"
