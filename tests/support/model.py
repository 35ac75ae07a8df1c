"""An independent model of the rules: what the ledger must answer to any history of commands.

It keeps everything, looks everything up the slow way and was written from the design and the HTTP
contract. Where it and the ledger differ, one of them is wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ledger.application.facts.address_hold import AddressHoldTold
from ledger.application.facts.customer_hold import CustomerHeld
from ledger.application.facts.customer_observed import CustomerObserved
from ledger.application.facts.customers_merged import CustomersMerged
from ledger.application.facts.delivery import Delivery
from ledger.application.facts.fact import Fact
from ledger.application.facts.invoice_credit import Credited
from ledger.application.facts.invoice_hold import InvoiceHeld
from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.application.facts.invoice_payment import PaymentMoved
from ledger.application.facts.payment_failed_reported import PaymentFailed
from ledger.application.facts.send_observed import SendObserved
from ledger.application.facts.thread_message import ThreadMessage
from tests.support.model_arrival import of_arrival
from tests.support.model_holds import ModelHolds, ModelWord, word_of
from tests.support.model_invoices import LADDER, ModelInvoice
from tests.support.model_permits import LIVE, Holdings, Key, ModelPermit, ObservedSend

STAGES = tuple(name for name, _, _ in LADDER)


@dataclass(frozen=True)
class Expected:
    """What must be answered: a status and code, or what becomes of a fact; a reminder's items."""

    status: int = 200
    code: str | None = None
    result: str | None = None
    items: tuple[tuple[str, str, tuple[str, ...], int], ...] | None = None


@dataclass
class ModelCustomer:
    """What is known of a customer after all merges."""

    holds: ModelHolds = field(default_factory=ModelHolds)
    breaker: str | None = None
    addresses: list[str] = field(default_factory=list)


@dataclass
class ModelMessage:
    """What was told of a message, by whomever and in whatever order."""

    thread: str
    outbound: bool
    automatic: bool
    ours: bool
    writer: str | None = None


@dataclass
class Model:
    """The whole ledger as the rules have it; `number` counts the commands."""

    now: datetime
    number: int = 0
    invoices: dict[str, ModelInvoice] = field(default_factory=dict)
    customers: dict[str, ModelCustomer] = field(default_factory=dict)
    into: dict[str, str] = field(default_factory=dict)
    address_of: dict[str, str] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    threads: dict[str, str] = field(default_factory=dict)
    messages: dict[str, ModelMessage] = field(default_factory=dict)
    facts: set[tuple[str, str]] = field(default_factory=set)
    mails: dict[str, str] = field(default_factory=dict)
    early: dict[str, set[tuple[str, str | None]]] = field(default_factory=dict)
    mailboxes: dict[str, ModelHolds] = field(default_factory=dict)
    pauses: set[str] = field(default_factory=set)
    paused_at: dict[str, int] = field(default_factory=dict)
    recovering: bool = False
    incidents: set[str] = field(default_factory=set)
    failures: set[tuple[str, str, str]] = field(default_factory=set)
    bound: dict[bytes, tuple[bytes, str, datetime]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.holdings = Holdings(self.root)

    def root(self, customer: str) -> str:
        """Who a customer is after all merges."""
        while customer in self.into:
            customer = self.into[customer]
        return customer

    def customer(self, customer: str) -> ModelCustomer:
        """What is known of them; nothing, if they are new."""
        return self.customers.get(self.root(customer), ModelCustomer())

    def meet(self, customer: str) -> ModelCustomer:
        """The ledger has heard of them from now on."""
        return self.customers.setdefault(self.root(customer), ModelCustomer())

    def fact(self, fact: Fact) -> str:
        """Take a fact in, once per source and id; what becomes of it."""
        name = (fact.source, fact.fact_id or "")
        if fact.fact_id is not None and name in self.facts:
            return "duplicate"
        fact = of_arrival(self.now, fact)
        result = _FACTS[type(fact.data)](self, fact, fact.data)
        if fact.fact_id is not None and result != "rejected":
            self.facts.add(name)
        return result

    def merge(self, gone: str, into: str) -> None:
        """Two customers are one: windows go by their root, the rest is carried over."""
        before, after = self.customers.pop(gone, ModelCustomer()), self.meet(into)
        self.into[gone] = into
        for word in before.holds.words:
            after.holds.told(word)
        after.breaker = (
            "all" if "all" in (before.breaker, after.breaker) else (before.breaker or after.breaker)
        )
        after.addresses += [a for a in before.addresses if a not in after.addresses]

    def one(self, first: str, second: str) -> bool:
        """Are the two one from now on? Somebody known by an address alone is the other."""
        first, second = self.root(first), self.root(second)
        if first == second:
            return True
        if second.startswith("adr_"):
            self.merge(second, first)
        elif first.startswith("adr_"):
            self.merge(first, second)
        else:
            return False
        return True

    def named_together(self, customer: str, address: str) -> None:
        """A request names both: whose address it is, is known before the request is judged."""
        owner = self.address_of.get(address)
        if owner is not None:
            self.one(customer, owner)

    def claim(self, customer: str, address: str) -> None:
        """The address is the customer's from now on; one of another billing customer is shared."""
        mine = self.root(customer)
        if address not in self.address_of:
            self.address_of[address] = mine
            if address not in self.meet(mine).addresses:
                self.meet(mine).addresses.append(address)
        elif not self.one(mine, self.address_of[address]):
            self.shared.add(address)

    def scopes(self, kind: str, lane: str, sender: str) -> tuple[str, ...]:
        """The pauses that bind a mail; an apology passes them all."""
        if lane == "apology":
            return ()
        named = ("all", f"kind:{kind}", f"sender:{sender}")
        return (*named, "outreach") if lane == "outreach" else named

    def paused(self, kind: str, lane: str, sender: str) -> bool:
        """Is such a mail paused now?"""
        return any(scope in self.pauses for scope in self.scopes(kind, lane, sender))

    def recorded(self, invoice_id: str) -> set[str]:
        """The stages on record in the invoice's present cycle."""
        return self.holdings.recorded(invoice_id, self.invoices[invoice_id].cycle, STAGES)

    def taken_back(self, permit: ModelPermit) -> bool:
        """Did something happen since the grant that revokes the permit at its redeem (D6)?"""
        scopes = self.scopes(permit.kind, permit.lane, permit.sender)
        if any(s in self.pauses or self.paused_at.get(s, 0) > permit.number for s in scopes):
            return True
        if permit.overtaken:
            return True
        if self.customer(permit.customer).holds.held(self.now, permit.kind):
            return True
        if self.address_lost(permit):
            return True
        root = self.root(permit.customer)
        in_thread = permit.kind in ("reply", "follow_up", "message") and permit.thread is not None
        if in_thread and self.root(self.threads[permit.thread or ""]) != root:
            return True
        if self.holdings.followed(permit):
            return True
        for item in permit.items:
            invoice = self.invoices[item.invoice]
            as_granted = (item.owed, item.cycle, item.starts)
            if (invoice.owed(), invoice.cycle, invoice.starts()) != as_granted:
                return True
            if invoice.held(self.now) or (not item.repeat and invoice.changed > permit.number):
                return True
        if permit.invoice is None:
            return False
        invoice = self.invoices[permit.invoice]
        repeat = not permit.keys
        closed = invoice.status() != "open"
        return closed or invoice.held(self.now) or (not repeat and invoice.changed > permit.number)

    def mailbox(self, address: str) -> ModelHolds:
        """What holds mail to an address back, whoever has it."""
        return self.mailboxes.setdefault(address, ModelHolds())

    def address_lost(self, permit: ModelPermit) -> bool:
        """Is the address of the permit held, or not the one to mail to any more?"""
        if permit.address is None:
            return False
        if self.mailbox(permit.address).held(self.now, permit.kind):
            return True
        addresses = self.customer(permit.customer).addresses
        if permit.address_named or addresses[:1] == [permit.address]:
            return False
        merged = self.root(permit.customer) != permit.customer
        return permit.address not in addresses or not merged


def _observed(model: Model, fact: Fact, said: InvoiceObserved) -> str:
    assert said.customer_id is not None
    invoice = model.invoices.setdefault(said.invoice_id, ModelInvoice())
    result = invoice.observe(said, model.now, model.number)
    if result == "applied":
        model.meet(said.customer_id)
    return result


def _paid(model: Model, fact: Fact, said: PaymentMoved) -> str:
    invoice = model.invoices.setdefault(said.invoice_id, ModelInvoice())
    state, name = str(said.state), said.payment_id
    return invoice.move(state, name, said.amount, fact.time, model.now, model.number)


def _credited(model: Model, fact: Fact, said: Credited) -> str:
    invoice = model.invoices.setdefault(said.invoice_id, ModelInvoice())
    state = "credit" if said.amount >= 0 else "credit_taken_back"
    return invoice.move(state, said.credit_id, said.amount, fact.time, model.now, model.number)


def _invoice_held(model: Model, fact: Fact, said: InvoiceHeld) -> str:
    invoice = model.invoices.setdefault(said.invoice_id, ModelInvoice())
    at = fact.time or model.now
    return invoice.hold(said.reason, said.held, said.until, at, model.number)


def _customer_held(model: Model, fact: Fact, said: CustomerHeld) -> str:
    customer = model.meet(said.customer_id)
    if not customer.holds.told(word_of(fact, said, model.now)):
        return "stale"
    for permit in model.holdings.mails(said.customer_id) if said.held else ():
        concerned = not said.kinds or permit.kind in said.kinds
        permit.overtaken = permit.overtaken or (permit.state in LIVE and concerned)
    return "applied"


def _address_held(model: Model, fact: Fact, said: AddressHoldTold) -> str:
    news = model.mailbox(said.address.fingerprint).told(word_of(fact, said, model.now))
    return "applied" if news else "stale"


def _addresses(model: Model, fact: Fact, said: CustomerObserved) -> str:
    model.meet(said.customer_id)
    mine = model.root(said.customer_id)
    for email in said.emails:
        if not model.one(mine, model.address_of.setdefault(email.fingerprint, mine)):
            model.shared.add(email.fingerprint)
    told = list(dict.fromkeys(e.fingerprint for e in said.emails))
    gone = set(model.customers[mine].addresses) - set(told)
    for permit in model.holdings.mails(mine):
        permit.overtaken |= permit.state in LIVE and permit.address in gone
    model.customers[mine].addresses = told
    return "applied"


def _merged(model: Model, fact: Fact, said: CustomersMerged) -> str:
    gone, into = model.root(said.from_id), model.root(said.into_id)
    if gone == into:
        return "ignored"
    model.merge(gone, into)
    return "applied"


def _message(model: Model, fact: Fact, said: ThreadMessage) -> str:
    told = (said.direction == "outbound", said.automatic is not None, said.ours is not None)
    known = model.messages.get(said.message_id)
    inbound = said.direction == "inbound"
    writer = said.sender.fingerprint if inbound and said.sender is not None else None
    person = said.sender if said.direction == "inbound" else said.recipient
    if known is None:
        owner = said.customer_id
        if owner is None and said.thread_id not in model.threads:
            if person is None:
                return "rejected"
            owner = model.address_of.get(person.fingerprint, f"adr_{person.fingerprint}")
            model.claim(owner, person.fingerprint)
        if owner is not None:
            before = model.threads.get(said.thread_id, owner)
            model.meet(owner)
            if model.root(before).startswith("adr_"):
                model.one(owner, before)
            model.threads[said.thread_id] = owner
        model.messages[said.message_id] = ModelMessage(said.thread_id, *told, writer)
    a_person = said.automatic is None and (said.ours is None or said.direction == "outbound")
    if a_person and said.customer_id is not None and person is not None:
        model.meet(said.customer_id)
        model.claim(said.customer_id, person.fingerprint)
    if known is None:
        return "applied"
    heard = (known.outbound, known.automatic, known.ours)
    news = writer is not None and known.writer is None and not known.outbound
    known.writer = known.writer or writer
    known.outbound, known.automatic, known.ours = map(any, zip(heard, told, strict=True))
    same = heard == (known.outbound, known.automatic, known.ours)
    return "duplicate" if same and not news else "applied"


def _sent(model: Model, fact: Fact, said: SendObserved) -> str:
    customer = model.meet(said.customer_id)
    at = min(said.at, model.now)
    key: Key | None = None
    supersedes: tuple[str, ...] = ()
    if said.thread_id is not None and said.intent is not None:
        key = ("intent", said.thread_id, said.intent)
        model.threads.setdefault(said.thread_id, model.root(said.customer_id))
    elif said.invoice_id is not None and said.stage is not None:
        key, supersedes = _stage_sent(model, said.invoice_id, said.stage, at)
    mail = ObservedSend(said.customer_id, at, key, supersedes)
    full = model.holdings.full(said.customer_id, "outreach", model.now)
    model.holdings.observe(mail, model.now)
    recent = (model.now - at).total_seconds() < 24 * 3600
    if recent and full and customer.breaker is None:
        customer.breaker = "outreach"
    return "applied"


def _stage_sent(
    model: Model, invoice_id: str, stage: str, at: datetime
) -> tuple[Key, tuple[str, ...]]:
    """The key of a stage mailed past the ledger: of the cycle before, if it was before this one."""
    invoice = model.invoices.setdefault(invoice_id, ModelInvoice())
    cycle, starts = invoice.cycle, invoice.starts() if invoice.snapshot else None
    if cycle > 1 and starts is not None and invoice.day(at) < starts:
        cycle -= 1
    lower = STAGES[: STAGES.index(stage)]
    recorded = model.holdings.recorded(invoice_id, invoice.cycle, STAGES)
    return ("stage", invoice_id, str(cycle), stage), tuple(s for s in lower if s not in recorded)


def _delivered(model: Model, fact: Fact, said: Delivery) -> str:
    mail = said.provider_message_id
    permit_id = said.permit_id or model.mails.get(mail or "")
    permit = model.holdings.permits.get(permit_id or "")
    if permit is None and mail is None:
        return "ignored"
    named = said.recipient.fingerprint if said.recipient is not None else None
    if named is not None and said.event != "delivered":
        model.mailbox(named).told(ModelWord(said.event, True, model.now))
    if permit is None and mail is not None:
        model.early.setdefault(mail, set()).add((said.event, named))
    elif permit is not None:
        deliver(model, permit, {(said.event, named)}, mail)
    return "applied"


def deliver(
    model: Model,
    permit: ModelPermit,
    words: set[tuple[str, str | None]],
    mail: str | None,
) -> None:
    """A mail was handed over after all; bad news that names nobody holds the permit's address."""
    if permit.state != "sent":
        model.holdings.settle(permit, "sent", model.now)
        if mail is not None:
            model.mails.setdefault(mail, permit.id)
    for event, named in sorted(words, key=str):
        if event != "delivered" and named is None and permit.address is not None:
            model.mailbox(permit.address).told(ModelWord(event, True, model.now))


def _failed(model: Model, fact: Fact, data: PaymentFailed) -> str:
    if data.attempt_id is not None:
        model.failures.add((data.invoice_id, data.event_id, data.attempt_id))
    return "applied"


_FACTS: dict[type, Callable[[Model, Fact, Any], str]] = {
    InvoiceObserved: _observed,
    PaymentMoved: _paid,
    Credited: _credited,
    InvoiceHeld: _invoice_held,
    CustomerHeld: _customer_held,
    AddressHoldTold: _address_held,
    CustomerObserved: _addresses,
    CustomersMerged: _merged,
    ThreadMessage: _message,
    SendObserved: _sent,
    Delivery: _delivered,
    PaymentFailed: _failed,
}
