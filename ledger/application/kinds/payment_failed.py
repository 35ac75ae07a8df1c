"""The mail about a failed payment: once per provider event and once per attempt."""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any, ClassVar, Self

from ledger.application.effects import Outcome
from ledger.application.kinds.ask import begin_ask, missing_invoice, rejection_limit
from ledger.application.kinds.kind import Ask, Granted, Judged, PermitSubject, Request
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.identity import Address
from ledger.domain.invoice import Invoice
from ledger.domain.payment_attempts import slots_of_failure
from ledger.domain.permit import LIVE, Lane
from ledger.domain.reasons import Denial
from ledger.domain.sendkey import SendKey
from ledger.domain.subjects import InvoiceNotice
from ledger.domain.value import value


@value
class PaymentFailedNotice(PermitSubject):
    """The mail about a failed payment, once per event and once per attempt."""

    kind: ClassVar[str] = "payment_failed"
    code: ClassVar[str] = "p"
    ends_with_subscription: ClassVar[bool] = True

    invoice_id: str
    event_id: str
    attempt_id: str | None = None
    subscription_id: str | None = None

    @classmethod
    def from_body(cls, body: Any, address: Callable[[str], Address]) -> Self:
        """The invoice, and what was reported of it."""
        return cls(body.invoice_id, body.event_id, body.attempt_id, body.subscription_id)

    def concerns(self) -> Collection[str]:
        """Its invoice."""
        return (self.invoice_id,)

    def load(self, walk: Walk) -> None:
        """The invoice and its customer."""
        walk.invoice(self.invoice_id)

    def customers(self, world: World) -> list[str]:
        """The owner of the invoice."""
        invoice = world.invoice(self.invoice_id)
        return [invoice.customer_id] if invoice is not None and invoice.snapshot else []

    def holders(self, world: World) -> list[str]:
        """The live permits for notices of the invoice."""
        invoice = world.invoice(self.invoice_id)
        notices = invoice.notices.sends.values() if invoice is not None else ()
        return [send.permit_id for send in notices if send.state in LIVE]

    def send_keys(self, world: World, at: datetime) -> tuple[tuple[SendKey, ...], ...]:
        """The event, the attempt if told, and other ids that facts name for the failure."""
        invoice = world.invoice(self.invoice_id)
        told = invoice.attempts if invoice is not None else {}
        slots = slots_of_failure(told, self.event_id, self.attempt_id)
        return (tuple(_key_of_slot(self.invoice_id, slot) for slot in slots),)

    @classmethod
    def lane(cls, transactional: bool) -> Lane:
        """A receipt where the key is transactional."""
        return Lane.TRANSACTIONAL if transactional else Lane.OUTREACH

    def ask(self, world: World, request: Request) -> Ask | Denial:
        """The slots of the event, the attempt, and what facts told as one with them."""
        invoice = world.invoice(self.invoice_id)
        if invoice is None or invoice.snapshot is None:
            ask = begin_ask(world, request, self, None, "")
            if isinstance(ask, Ask):
                ask.subjects = [Judged(self.invoice_id, missing_invoice(self.invoice_id))]
                ask.invoice_id = self.invoice_id
            return ask
        customer = world.customer(invoice.customer_id)
        owner = customer.customer_id if customer else invoice.customer_id
        ask = begin_ask(world, request, self, customer, owner)
        if isinstance(ask, Denial):
            return ask
        slots = slots_of_failure(invoice.attempts, self.event_id, self.attempt_id)
        limit = rejection_limit(world, request)
        named = (*invoice.subscriptions, *([self.subscription_id] if self.subscription_id else ()))
        ended = customer.subscriptions.ended(named, world.now) if customer is not None else None
        notice = InvoiceNotice(invoice, self.kind, slots, world.now, world.policy, limit, ended)
        ask.subjects = [Judged(self.invoice_id, notice)]
        ask.keys, ask.slots, ask.book = self._keys(), slots, invoice.notices
        every = (_key_of_slot(self.invoice_id, slot) for slot in slots)
        ask.aliases = tuple(key for key in every if key not in ask.keys)
        ask.invoice_id = self.invoice_id
        ask.rejections = max(invoice.notices.rejections.get(slot, 0) for slot in slots)
        ask.extras = {
            "invoice_id": self.invoice_id,
            "amount_remaining": invoice.standing.balance,
            "currency": invoice.snapshot.currency,
        }
        return ask

    def record(self, world: World, outcome: Outcome, granted: Granted) -> None:
        """Put the permit into its slots of the invoice."""
        permit = granted.permit
        for slot in permit.slots:
            outcome.change(
                "invoice",
                self.invoice_id,
                Invoice.NoticePermitted,
                permit_id=permit.permit_id,
                sender=permit.sender,
                slot=slot,
            )

    def _keys(self) -> tuple[SendKey, ...]:
        event = payment_event_key(self.invoice_id, self.event_id)
        if self.attempt_id is None:
            return (event,)
        return (event, payment_attempt_key(self.invoice_id, self.attempt_id))


def _key_of_slot(invoice_id: str, slot: str) -> SendKey:
    what, _, name = slot.partition(":")
    return _KEY_OF[what](invoice_id, name)


def payment_event_key(invoice_id: str, event_id: str) -> SendKey:
    """A provider's event about a failed payment."""
    return ("payment-event", invoice_id, event_id)


def payment_attempt_key(invoice_id: str, attempt_id: str) -> SendKey:
    """A failed attempt to pay, which several events may report."""
    return ("payment-attempt", invoice_id, attempt_id)


_KEY_OF = {"event": payment_event_key, "attempt": payment_attempt_key}
"""By the first word of the slot."""
