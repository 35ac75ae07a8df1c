"""A reminder: one dunning stage each of one or more invoices of one customer."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Any, ClassVar, Self

from ledger.application.effects import Alert, Outcome
from ledger.application.key_limits import GoesWith, KeyLimits
from ledger.application.kinds.ask import begin_ask, missing_invoice
from ledger.application.kinds.kind import Ask, Granted, Judged, PermitSubject, Request
from ledger.application.statement import covered_currencies
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.freshness import is_old
from ledger.domain.identity import Address
from ledger.domain.instants import told
from ledger.domain.invoice import Invoice
from ledger.domain.permit import DUNNING, Item, Lane
from ledger.domain.reasons import Denial
from ledger.domain.sendkey import SendKey
from ledger.domain.stages import cycle_at, stage_reached, stage_to_ask_about
from ledger.domain.subjects import InvoiceStage
from ledger.domain.subscription import Subscription
from ledger.domain.value import value


@value
class Expected:
    """What the sender believes of an invoice."""

    cycle: int | None = None
    amount_remaining: int | None = None


_NOTHING_EXPECTED = Expected()


@value
class Reminder(PermitSubject):
    """A reminder for one or more invoices of one customer; `stage` None takes the due one."""

    kind: ClassVar[str] = DUNNING
    code: ClassVar[str] = "r"
    dunning: ClassVar[bool] = True
    goes_with: ClassVar[GoesWith | None] = GoesWith.STAGES

    invoices: tuple[str, ...]
    stage: str | None = None
    expected: dict[str, Expected] = field(default_factory=dict)
    claim: bool = False

    @classmethod
    def from_body(cls, body: Any, address: Callable[[str], Address]) -> Self:
        """With what the sender expects of each invoice."""
        expected = {
            invoice_id: Expected(state.cycle, state.amount_remaining)
            for invoice_id, state in (body.expected or {}).items()
        }
        return cls(tuple(body.invoices), body.stage, expected)

    @classmethod
    def from_sent(cls, told: Mapping[str, Any]) -> Self:
        """The reminder of one invoice; without a stage, of the highest that had been reached."""
        if told.get("invoice_id") is None:
            raise ValueError(f"a mail of kind {cls.kind} needs invoice_id")
        return cls((told["invoice_id"],), told.get("stage"))

    def beyond(self, limits: KeyLimits, judged: Judged | None = None) -> Denial | None:
        """A key may have only some stages: the one asked for, or the one that turns out due."""
        stage = self.stage
        if judged is not None and isinstance(judged.judged, InvoiceStage):
            stage = judged.judged.due().stage.name
        if stage is None or limits.allows_stage(stage):
            return None
        return Denial("key_limit", f"this key may not ask for the stage {stage}")

    def concerns(self) -> Collection[str]:
        """Its invoices."""
        return self.invoices

    def as_logged(self, logged: Mapping[str, Any]) -> Self:
        """A claim says so in the decision log."""
        return replace(self, claim=logged.get("claim") is True)

    def load(self, walk: Walk) -> None:
        """The invoices and their customer."""
        for invoice_id in self.invoices:
            walk.invoice(invoice_id)

    def customers(self, world: World) -> list[str]:
        """The owners of the invoices."""
        invoices = [world.invoice(invoice_id) for invoice_id in self.invoices]
        return list({i.customer_id: None for i in invoices if i is not None and i.snapshot})

    def holders(self, world: World) -> list[str]:
        """The live permits of the invoices' stages in their cycles."""
        held: list[str] = []
        for invoice_id in self.invoices:
            invoice = world.invoice(invoice_id)
            if invoice is not None and invoice.stages:
                live = (r for r in invoice.cycle_records() if r.state == "permitted")
                held.extend(r.permit_id for r in live if r.permit_id is not None)
        return held

    def send_keys(self, world: World, at: datetime) -> tuple[tuple[SendKey, ...], ...]:
        """For each invoice its stage, in the cycle that it was in."""
        found: list[tuple[SendKey, ...]] = []
        for invoice_id in dict.fromkeys(self.invoices):
            invoice = world.invoice(invoice_id)
            stage, cycle = self._stage_at(world, invoice, at), 1
            if invoice is not None:
                past = at < world.now
                cycle = cycle_at(invoice, at, world.policy) if past else invoice.standing.cycle
            found.append(() if stage is None else (stage_key(invoice_id, cycle, stage),))
        return tuple(found)

    def _stage_at(self, world: World, invoice: Invoice | None, at: datetime) -> str | None:
        """The stage that is named; else the due one, or the highest that was reached by then."""
        if self.stage is not None or invoice is None:
            return self.stage
        if at >= world.now:
            stage = stage_to_ask_about(invoice, at, world.policy)
        else:
            stage = stage_reached(invoice, at, world.policy)
        return stage.name if stage is not None else None

    @classmethod
    def lane(cls, transactional: bool) -> Lane:
        """Dunning is outreach, whoever asks."""
        return Lane.OUTREACH

    def ask(self, world: World, request: Request) -> Ask | Denial:
        """One subject for each invoice; those that are denied are withheld, the others go."""
        policy, control = world.policy, world.control
        stage = policy.stage(self.stage) if self.stage is not None else None
        if self.stage is not None and stage is None:
            return Denial("invalid_request", f"{self.stage!r} is not a stage of the policy")
        judged: list[Judged] = []
        customers: dict[str, Customer] = {}
        for invoice_id in dict.fromkeys(self.invoices):
            invoice = world.invoice(invoice_id)
            if invoice is None or invoice.snapshot is None:
                judged.append(Judged(invoice_id, missing_invoice(invoice_id)))
                continue
            customer = world.customer(invoice.customer_id)
            if customer is not None:
                customers[customer.customer_id] = customer
            expected = self.expected.get(invoice_id, _NOTHING_EXPECTED)
            covered = invoice.snapshot.currency in covered_currencies(world, customer)
            subject = InvoiceStage(
                invoice,
                self.kind,
                stage,
                world.now,
                policy,
                expected.cycle,
                expected.amount_remaining,
                request.override is not None,
                covered=covered,
                silent_feeds=control.silent_feeds,
                ended=_ended(invoice, customer, world),
            )
            judged.append(Judged(invoice_id, subject))
        if len(customers) > 1:
            return Denial("invalid_request", "the invoices of one reminder must be of one customer")
        customer = next(iter(customers.values()), None)
        owner = customer.customer_id if customer else ""
        ask = begin_ask(world, request, self, customer, owner)
        if isinstance(ask, Denial):
            return ask
        ask.subjects = judged
        ask.invoice_id = self.invoices[0]
        ask.lists_withheld = True
        return ask

    def narrow(self, ask: Ask, passed: list[Judged]) -> None:
        """One item, with its send key, for each invoice that the guards let pass."""
        items: list[Item] = []
        for stage in _stages(passed):
            items.append(_item(stage))
            refused = stage.invoice.rejections_of(items[-1].cycle, items[-1].stage)
            ask.rejections = max(ask.rejections, refused)
        ask.items = tuple(items)
        ask.keys = tuple(stage_key(i.invoice_id, i.cycle, i.stage) for i in items)

    def record(self, world: World, outcome: Outcome, granted: Granted) -> None:
        """Put the stages on record; a deliberate repeat leaves the record of the first send."""
        permit = granted.permit
        for item, stage in zip(permit.items, _stages(granted.passed), strict=True):
            if is_old(stage.invoice, world.now):
                outcome.alerts.append(_old_facts(stage, world.now))
            if item.invoice_id in granted.repeated:
                continue
            outcome.change(
                "invoice",
                item.invoice_id,
                Invoice.ReminderPermitted,
                permit_id=permit.permit_id,
                sender=permit.sender,
                cycle=item.cycle,
                stage=item.stage,
                supersedes=item.supersedes,
                crossed=dict(stage.due().crossed),
            )

    def shown_invoices(self) -> tuple[str, ...]:
        """All that it names."""
        return self.invoices


def _ended(invoice: Invoice, customer: Customer | None, world: World) -> Subscription | None:
    """The end of what the invoice bills, where the policy says that it is not dunned after that."""
    if customer is None or world.policy.remind_after_subscription_end:
        return None
    return customer.subscriptions.ended(invoice.subscriptions, world.now)


def _stages(passed: list[Judged]) -> list[InvoiceStage]:
    """What passed is a stage: an invoice that is not known never does."""
    return [j.judged for j in passed if isinstance(j.judged, InvoiceStage)]


def _old_facts(stage: InvoiceStage, now: datetime) -> Alert:
    """The page for a reminder on old facts: one a day for each source of them."""
    snapshot = stage.invoice.snapshot
    assert snapshot is not None
    source = snapshot.source or "unnamed"
    return Alert(
        "old_facts",
        f"old_facts:{source}:{now.date().isoformat()}",
        f"a reminder of invoice {stage.invoice.invoice_id} rests on a snapshot of "
        f"{told(snapshot.observed_at)} from the source {source}",
        snapshot.customer_id,
    )


def _item(stage: InvoiceStage) -> Item:
    invoice, due = stage.invoice, stage.due()
    assert invoice.snapshot is not None
    return Item(
        invoice.invoice_id,
        invoice.standing.cycle,
        due.stage.name,
        due.supersedes,
        invoice.standing.balance,
        invoice.snapshot.currency,
        invoice.standing.starts_on,
        invoice.snapshot.observed_at,
    )


def stage_key(invoice_id: str, cycle: int, stage: str) -> SendKey:
    """A dunning stage of one past-due run of an invoice."""
    return ("stage", invoice_id, str(cycle), stage)
