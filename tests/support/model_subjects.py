"""The model's result for each kind of request: its send keys, its customer, its denial."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ledger.application.commands import RequestPermit
from ledger.application.kinds.apology import ApologyRequest
from ledger.application.kinds.digest import Digest
from ledger.application.kinds.follow_up import FollowUp
from ledger.application.kinds.message import IntentMessage
from ledger.application.kinds.notification import Notification
from ledger.application.kinds.payment_failed import PaymentFailedNotice
from ledger.application.kinds.reminder import Expected as Believed
from ledger.application.kinds.reminder import Reminder
from ledger.application.kinds.reply import Reply
from tests.support.model import STAGES, Expected, Model
from tests.support.model_invoices import LADDER, ModelInvoice
from tests.support.model_permits import Key, ModelItem


@dataclass
class Wish:
    """One thing that is asked for: its send keys, and why the facts forbid it, if they do."""

    keys: tuple[Key, ...]
    obstacle: Callable[[], str | None]
    item: ModelItem | None = None


@dataclass
class Request:
    """A request by its parts; `customer` is None where nobody is known yet."""

    wishes: list[Wish]
    customer: str
    invoice: str | None = None
    thread: str | None = None
    address: str | None = None
    begins_thread: bool = False
    writer: str | None = None
    """Whose message it answers: a reply goes there, not to the preferred address."""

    @property
    def goes_to(self) -> str | None:
        """The address that it has of its own."""
        return self.address or self.writer


def _reminder(model: Model, command: RequestPermit, subject: Reminder) -> Request | Expected:
    known = {i: model.invoices[i] for i in subject.invoices if _known(model, i)}
    owners = {_owner(model, invoice) for invoice in known.values()}
    if len(owners) > 1:
        return Expected(422, "invalid_request")
    wishes = []
    for name in dict.fromkeys(subject.invoices):
        if name in known:
            believed = subject.expected.get(name, Believed())
            wishes.append(_stage_wish(model, name, subject.stage, believed, command))
        else:
            wishes.append(Wish((), lambda: "unknown_invoice"))
    return Request(wishes, next(iter(owners), ""), invoice=subject.invoices[0])


def _stage_wish(
    model: Model, name: str, stage: str | None, believed: Believed, command: RequestPermit
) -> Wish:
    invoice, now = model.invoices[name], model.now
    recorded = model.recorded(name)
    asked = stage or invoice.due(now, recorded) or _highest_reached(model, invoice)
    if stage is None and _money(invoice) is not None:
        asked = None
    key = ("stage", name, str(invoice.cycle), asked or "")
    sent = asked is not None and model.holdings.holder(key) == "sent"
    repeat = sent and command.override is not None

    def obstacle() -> str | None:
        if believed.cycle not in (None, invoice.cycle):
            return "stale_cycle"
        if believed.amount_remaining not in (None, invoice.owed()):
            return "amount_changed"
        code = _money(invoice)
        if code is None and repeat and asked is not None:
            floor = None if invoice.meets_floor(asked) else "balance_below_stage"
            code = invoice.calendar(now, asked) or floor
        elif code is None:
            code = invoice.ladder(now, stage, recorded, model.holdings.last_reminder(name))
        until = invoice.in_flight_until()
        if code is None and invoice.held(now):
            code = "on_hold"
        return code or ("payment_in_flight" if until is not None and until > now else None)

    lower = [s for s in STAGES if asked and s not in recorded]
    supersedes = tuple(lower[: lower.index(asked)]) if asked in lower and not repeat else ()
    item = None
    if asked is not None:
        starts = invoice.starts()
        item = ModelItem(name, invoice.cycle, asked, supersedes, invoice.owed(), starts, repeat)
    return Wish((key,) if asked is not None else (), obstacle, item)


def _highest_reached(model: Model, invoice: ModelInvoice) -> str | None:
    age = invoice.age(model.now)
    reached = [s for s, d, _ in LADDER if age and d <= age]
    return reached[-1] if reached else None


def _money(invoice: ModelInvoice) -> str | None:
    codes = {"void": "voided", "paid": "nothing_owed", "uncollectible": "nothing_owed"}
    return {**codes, "draft": "not_past_due"}.get(invoice.status())


def _known(model: Model, name: str) -> bool:
    return name in model.invoices and model.invoices[name].snapshot is not None


def _owner(model: Model, invoice: ModelInvoice) -> str:
    assert invoice.snapshot is not None
    assert invoice.snapshot.said.customer_id is not None
    return model.root(invoice.snapshot.said.customer_id)


def _payment_failed(
    model: Model, command: RequestPermit, subject: PaymentFailedNotice
) -> Request | Expected:
    name = subject.invoice_id
    if not _known(model, name):
        return Request([Wish((), lambda: "unknown_invoice")], "", invoice=name)
    invoice = model.invoices[name]
    keys: list[Key] = [("payment-event", name, subject.event_id)]
    if subject.attempt_id is not None:
        keys.append(("payment-attempt", name, subject.attempt_id))
    for _ in model.failures:
        for said, event, attempt in model.failures:
            pair: list[Key] = [("payment-event", name, event), ("payment-attempt", name, attempt)]
            if said == name and not set(pair).isdisjoint(keys):
                keys += [key for key in pair if key not in keys]

    def obstacle() -> str | None:
        return _money(invoice) or ("on_hold" if invoice.held(model.now) else None)

    return Request([Wish(tuple(keys), obstacle)], _owner(model, invoice), invoice=name)


def _reply(model: Model, command: RequestPermit, subject: Reply) -> Request | Expected:
    said = model.messages.get(subject.in_reply_to)
    thread = said.thread if said is not None else subject.thread_id
    if thread not in model.threads:
        return Expected(404, "unknown_message")

    def obstacle() -> str | None:
        if said is None:
            return "unknown_message"
        if said.ours:
            return "own_message"
        if said.outbound:
            return "outbound_message"
        return "auto_generated" if said.automatic else None

    wish = Wish((("reply", subject.in_reply_to),), obstacle)
    writer = said.writer if said is not None else None
    return Request([wish], model.root(model.threads[thread]), thread=thread, writer=writer)


def _of_thread(model: Model, subject: IntentMessage | FollowUp, key: Key) -> Request | Expected:
    wish = Wish((key,), lambda: None)
    if subject.thread_id in model.threads:
        customer = model.root(model.threads[subject.thread_id])
        return Request([wish], customer, thread=subject.thread_id)
    if subject.customer_id is None and subject.to is None:
        return Expected(404, "unknown_thread")
    customer, address = _whom(model, subject)
    return Request([wish], customer, None, subject.thread_id, address, begins_thread=True)


def _intent(model: Model, command: RequestPermit, subject: IntentMessage) -> Request | Expected:
    return _of_thread(model, subject, ("intent", subject.thread_id, subject.intent))


def _follow_up(model: Model, command: RequestPermit, subject: FollowUp) -> Request | Expected:
    key = ("follow-up", subject.thread_id, str(subject.step))
    request = _of_thread(model, subject, key)
    if isinstance(request, Request) and command.override is None:
        request.wishes = [Wish((key,), lambda: _overtaken(model, key))]
    return request


def _overtaken(model: Model, key: Key) -> str | None:
    """A later follow-up that went out is final; one that may come to nothing is waited for."""
    later = [holder for _, holder in model.holdings.later_follow_ups(key)]
    if "sent" in later:
        return "superseded"
    codes = {"live": "permit_held", "unknown": "outcome_unknown"}
    return codes[later[0]] if later else None


def _whom(model: Model, subject: Any) -> tuple[str, str | None]:
    """The customer who is named, else whose address it is, else somebody known by it alone."""
    address = subject.to.fingerprint if subject.to is not None else None
    if subject.customer_id is not None:
        return model.root(subject.customer_id), address
    return model.root(model.address_of.get(address or "", f"adr_{address}")), address


def _notification(
    model: Model, command: RequestPermit, subject: Notification
) -> Request | Expected:
    customer, address = _whom(model, subject)
    key = ("notification", customer, subject.event_type, subject.event_id)
    return Request([Wish((key,), lambda: None)], customer, None, subject.thread_id, address)


def _digest(model: Model, command: RequestPermit, subject: Digest) -> Request | Expected:
    customer, address = _whom(model, subject)
    key = ("digest", customer, subject.inbox_id, subject.date.isoformat())
    return Request([Wish((key,), lambda: None)], customer, None, subject.thread_id, address)


def _apology(model: Model, command: RequestPermit, subject: ApologyRequest) -> Request | Expected:
    if subject.incident_id not in model.incidents:
        return Expected(404, "unknown_incident")
    customer = model.root(subject.customer_id)
    if customer not in model.customers:
        return Expected(404, "unknown_customer")

    def obstacle() -> str | None:
        if model.holdings.apologised(customer, model.now):
            return "apology_already_sent"
        return None if model.pauses else "not_paused"

    key = ("apology", subject.incident_id, customer)
    return Request([Wish((key,), obstacle)], customer)


REQUESTS: dict[str, Callable[[Model, RequestPermit, Any], Request | Expected]] = {
    "reminder": _reminder,
    "payment_failed": _payment_failed,
    "reply": _reply,
    "notification": _notification,
    "digest": _digest,
    "follow_up": _follow_up,
    "message": _intent,
    "apology": _apology,
}
