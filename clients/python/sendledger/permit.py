"""A permit: what was granted, what its mail carries, and what its sender says became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any

from sendledger.delivery import Classify, Delivered, NotDelivered, certain_refusal
from sendledger.errors import LedgerError, OutcomeGiven
from sendledger.kinds import Ask
from sendledger.times import instant

_LONGEST_ID = 255
_LONGEST_DETAIL = 500


class Granted:
    """A permit that was granted and not yet redeemed. It allows nothing before it is redeemed.

    `asked_at` is the monotonic time in seconds at which the client asked.
    """

    def __init__(self, body: Mapping[str, Any], asked_at: float, ask: Ask | None = None) -> None:
        self.body, self.asked_at, self.ask = body, asked_at, ask
        self._unused = [True]

    def use(self) -> None:
        """Raises LedgerError the second time: who redeems twice could give back what was sent.

        Of several threads one gets through: `pop` of a list is atomic.
        """
        try:
            self._unused.pop()
        except IndexError:
            raise LedgerError(f"permit {self.permit_id} was used already") from None

    @property
    def permit_id(self) -> str:
        """The permit's id."""
        return str(self.body["permit_id"])

    def runs_out(self) -> float | None:
        """The monotonic time in seconds of `send_by`, whatever this machine's clock says."""
        granted, send_by = instant(self.body.get("granted_at")), instant(self.body.get("send_by"))
        if granted is None or send_by is None:
            return None
        return self.asked_at + (send_by - granted).total_seconds()


@dataclass(frozen=True)
class Outcome:
    """What became of a mail: `sent`, `rejected` (certainly not out) or `unknown`."""

    state: str
    detail: str | None = None
    delivered: Delivered = field(default_factory=Delivered)

    def body(self) -> dict[str, Any]:
        """The report; ids that the ledger would not take are left out, so that the rest arrives."""
        found = {
            "outcome": self.state,
            "detail": _short(self.detail, _LONGEST_DETAIL),
            "provider": _id(self.delivered.provider),
            "provider_message_id": _id(self.delivered.provider_message_id),
            "message_id": _id(self.delivered.message_id),
        }
        return {name: value for name, value in found.items() if value is not None}


class Permit:
    """A redeemed permit: its mail may be handed over once, now, to `to` and the copies in `cc`.

    `to` is None where the ledger knows no address; it may be the one that was asked for. Say what
    became of the mail with `sent`, `rejected` or `unknown`; it is reported when the block ends.
    """

    def __init__(
        self,
        granted: Granted,
        redeemed: Mapping[str, Any],
        classify: Classify | None,
        noted: Callable[[Permit], None],
        clock: Callable[[], float],
    ) -> None:
        self.body: Mapping[str, Any] = {**granted.body, **redeemed}
        self.ask = granted.ask
        self.outcome: Outcome | None = None
        self._classify, self._noted, self._clock = classify, noted, clock
        self._runs_out = granted.runs_out()

    @property
    def permit_id(self) -> str:
        """The permit's id."""
        return str(self.body["permit_id"])

    @property
    def kind(self) -> str:
        """The kind of mail."""
        return str(self.body.get("kind", ""))

    @property
    def customer_id(self) -> str | None:
        """Whose mail it is."""
        return self._text("customer_id")

    @property
    def to(self) -> str | None:
        """The address to send to, None where the ledger knows none."""
        asked = self.ask.fields.get("to") if self.ask is not None else None
        return self._text("to") or (asked if isinstance(asked, str) else None)

    @property
    def cc(self) -> tuple[str, ...]:
        """The copies that were asked for: exactly these may get one."""
        return tuple(self.ask.fields.get("cc") or ()) if self.ask is not None else ()

    @property
    def items(self) -> list[Mapping[str, Any]]:
        """The invoices of a reminder: `invoice_id`, `stage`, `amount_remaining`, `currency`."""
        found = self.body.get("items")
        return list(found) if isinstance(found, list) else []

    @property
    def statement(self) -> Mapping[str, Any] | None:
        """What the customer owed when an apology was granted."""
        found = self.body.get("statement")
        return found if isinstance(found, dict) else None

    @property
    def message_id(self) -> str | None:
        """The Message-ID for the mail."""
        return self._text("message_id")

    @property
    def send_token(self) -> str | None:
        """What the mail carries in the header `X-Ledger-Send`."""
        return self._text("send_token")

    @property
    def provider_idempotency_key(self) -> str | None:
        """The key for a provider that takes one."""
        return self._text("provider_idempotency_key")

    @property
    def send_by(self) -> datetime | None:
        """Until when the mail may be handed over, by the ledger's clock."""
        return instant(self.body.get("send_by"))

    @property
    def in_time(self) -> bool:
        """May the mail still be handed over? Measured since the question, not by this clock."""
        return self._runs_out is None or self._clock() < self._runs_out

    @property
    def headers(self) -> dict[str, str]:
        """The headers that the mail must carry.

        Message-ID and X-Ledger-Send let the ledger recognise it; Auto-Submitted keeps other
        programs from answering it (RFC 3834, section 5); a reply names what it answers.
        """
        automatic = "auto-replied" if self.kind == "reply" else "auto-generated"
        found = {
            "Message-ID": self.message_id,
            "X-Ledger-Send": self.send_token,
            "Auto-Submitted": automatic,
        }
        answered = self.ask.fields.get("in_reply_to") if self.ask is not None else None
        if isinstance(answered, str):
            found["In-Reply-To"] = found["References"] = _bracketed(answered)
        return {name: value for name, value in found.items() if value}

    def sent(self, result: Any = None) -> None:
        """The provider took the mail; `result` is what the mailer returned (see Delivered.of)."""
        self._note(Outcome("sent", None, Delivered.of(result)))

    def rejected(self, detail: str = "not handed over") -> None:
        """The mail certainly did not go out; the send is free again. No address in `detail`."""
        self._note(Outcome("rejected", detail))

    def unknown(self, detail: str = "not known") -> None:
        """The mail may have gone out: nothing is sent again until somebody finds out."""
        self._note(Outcome("unknown", detail))

    def __enter__(self) -> Permit:
        """`with permit:` inside a loop over what is due: one mail that fails does not end the loop.

        The error of a mailer (NotDelivered) says what became of the mail, and goes no further.
        """
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self.left(error)
        return isinstance(error, NotDelivered)

    def left(self, error: BaseException | None) -> None:
        """The block is over: what was not told is judged by the error that left it."""
        if self.outcome is not None:
            return
        if error is None:
            self.unknown("the sender did not say")
            return
        refusal = self._classify(error) if self._classify is not None else None
        refusal = refusal or certain_refusal(error)
        if refusal is not None:
            self.rejected(refusal)
        else:
            self.unknown(type(error).__name__)

    def _note(self, outcome: Outcome) -> None:
        """The first word stands; only `sent` may replace `unknown`. Raises OutcomeGiven."""
        before = self.outcome
        if before is not None and before.state == outcome.state:
            return
        if before is not None and (before.state, outcome.state) != ("unknown", "sent"):
            raise OutcomeGiven(f"permit {self.permit_id} is {before.state}, not {outcome.state}")
        self.outcome = outcome
        self._noted(self)

    def _text(self, name: str) -> str | None:
        value = self.body.get(name)
        return value if isinstance(value, str) else None


def _bracketed(message_id: str) -> str:
    bare = message_id.strip()
    return bare if bare.startswith("<") or "@" not in bare else f"<{bare}>"


def _id(text: str | None) -> str | None:
    """An id that the ledger takes, None for any other."""
    fits = text and len(text) <= _LONGEST_ID and text.isprintable() and text == text.strip()
    return text if fits else None


def _short(text: str | None, most: int) -> str | None:
    return "".join(c for c in text if c.isprintable())[:most] or None if text else None
