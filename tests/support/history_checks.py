"""Checks the invariants after a history, from the stored log and permits."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

from ledger.application.answers import Answer
from ledger.application.commands import Command, RequestPermit
from ledger.domain.customer import Customer
from ledger.domain.identity import aggregate_id
from tests.support.history_ledgers import HistoryLedger
from tests.support.model import Model
from tests.support.model_permits import LIVE, WINDOWS, ModelPermit

_LAPSES = {
    "Customer.MailSettled",
    "Invoice.ReminderFreed",
    "Invoice.ReminderOutcomeUnknown",
    "Invoice.NoticeSettled",
    "Thread.SendSettled",
    "Incident.ApologySettled",
}
_OPENINGS = {"Customer.BreakerOpened", "Thread.LoopGuardTripped"}


def held_once(ledger: HistoryLedger, model: Model, permit_id: str) -> None:
    """No send key is held by two live, redeemed or sent permits."""
    mine = model.holdings.permits[permit_id]
    for key in mine.keys:
        for other in model.holdings.of(key):
            if other.id == permit_id or other.late:
                continue
            stored = ledger.permit(other.id)
            now = stored.lapsed_state(model.now) or stored.state
            assert now not in ("granted", "redeemed", "sent", "unknown"), (key, other.id)


def denial_changed_nothing(command: Command, answer: Answer, events: list[Any]) -> None:
    """A denial writes only a breaker opening, a loop guard trip, lapses and embedded facts."""
    if not isinstance(command, RequestPermit) or answer.status == 201:
        return
    told = {topic_of(event) for event in events}
    riding = (
        {topic for topic in told if topic.split(".")[1] in _OF_FACTS} if command.facts else set()
    )
    subject = command.subject
    both = getattr(subject, "to", None) and getattr(subject, "customer_id", None)
    by_breaker = json.loads(answer.body).get("code") in ("cap_reached", "breaker_open")
    if both and by_breaker and "Customer.MergedInto" in told:
        riding |= _OF_A_MERGE
    assert told - riding <= _LAPSES | _OPENINGS, (answer.body, told)
    settled = [event for event in events if topic_of(event) == "Customer.MailSettled"]
    assert {event.state for event in settled} <= {"expired", "unknown"}
    assert len([t for t in told if t in _OPENINGS]) <= (1 if answer.status == 429 else 0)


_OF_FACTS = {"Created", "Observed", "MessageSeen", "Moved", "AddressesObserved"}
_OF_FACTS |= {"MergedInto", "Absorbed"}
_OF_A_MERGE = {"Customer.Created", "Customer.MergedInto", "Customer.Absorbed"}


def topic_of(event: Any) -> str:
    """`Aggregate.Event`."""
    return str(type(event).TOPIC).removeprefix("ledger:")


def replay(events: list[Any]) -> dict[UUID, Any]:
    """Every aggregate from its first event on."""
    found: dict[UUID, Any] = {}
    for event in events:
        found[event.originator_id] = event.mutate(found.get(event.originator_id))
    return found


def replay_gives_the_same(ledger: HistoryLedger) -> None:
    """The events alone give what the engine holds and the states that permits are stored with."""
    replayed = replay(ledger.events())
    for id_, aggregate in ledger.in_memory().items():
        assert vars(replayed[id_]) == vars(aggregate)
    stored = ledger.permits()
    for aggregate in replayed.values():
        if not isinstance(aggregate, Customer) or aggregate.merged_into is not None:
            continue
        for permit_id, permit in aggregate.permits.items():
            if permit.kind != "observed":
                kept = stored[permit_id]
                assert (permit.state, permit.counts_at) == (kept.state, kept.counts_at)
    remembered = {
        permit_id
        for aggregate in replayed.values()
        if isinstance(aggregate, Customer) and aggregate.merged_into is None
        for permit_id in aggregate.permits
    }
    assert {p.permit_id for p in stored.values() if p.live} <= remembered


def windows_never_overflowed(ledger: HistoryLedger, model: Model) -> None:
    """By the events no rolling window held more than its limit, at any instant (design D8).

    Left out are customers for whom something was no decision of the ledger: mails that went out
    past it or after their permits had ended, and two windows that a merge made one.
    """
    permits = permits_of(ledger.events())
    merged = set(model.into) | set(model.into.values())
    observed = {model.root(seen.customer) for seen in model.holdings.observed}
    late = {model.root(p.customer) for p in model.holdings.permits.values() if p.late}
    for customer in {p.customer for p in permits} - merged - observed - late:
        mine = [p for p in permits if p.customer == customer]
        for lanes, span, limit in WINDOWS.values():
            _fits([p for p in mine if p.lane in lanes], span, limit)
    untouched = [p for p in permits if model.root(p.customer) not in late]
    for thread in {p.thread for p in untouched if p.lane == "reply"}:
        _fits([p for p in untouched if p.lane == "reply" and p.thread == thread], HOUR, 5)


def mailboxes_never_overflowed(ledger: HistoryLedger, model: Model) -> None:
    """No address that one customer has was permitted a third outreach mail within 24 hours (D9).

    Whoever was named, by id or address, in whatever order. Left out are addresses that two billing
    customers share, and those of a mail that went out after its permit had ended.
    """
    permits = permits_of(ledger.events())
    late = {p.address for p in model.holdings.permits.values() if p.late}
    lanes, span, limit = WINDOWS["outreach"]
    for address in {p.address for p in permits} - {None} - late - model.shared:
        _fits([p for p in permits if p.address == address and p.lane in lanes], span, limit)


HOUR = timedelta(hours=1)


def _fits(permits: list[ModelPermit], span: timedelta, limit: int) -> None:
    times = sorted(p.counts_at for p in permits if p.counts_at is not None)
    apologies = sum(p.lane == "apology" for p in permits)
    for end in times:
        counted = [at for at in times if end - span < at <= end]
        assert len(counted) <= limit + apologies, (counted, limit)


def permits_of(events: list[Any]) -> list[ModelPermit]:
    """The permits of the log as plain values, told by the customers' events alone."""
    found: dict[str, ModelPermit] = {}
    for event in events:
        topic = topic_of(event)
        if topic == "Customer.MailPermitted":
            given = event.permit
            found[given.permit_id] = ModelPermit(
                given.permit_id,
                0,
                given.kind,
                str(given.lane),
                given.customer_id,
                given.key_id,
                given.sender,
                given.redeem_required,
                given.granted_at,
                (),
                (),
                thread=given.thread_id,
                address=given.address,
                state=str(given.state),
                redeemed=given.redeemed_at,
            )
        elif topic == "Customer.MailRedeemed":
            permit = found[event.permit_id]
            permit.state, permit.redeemed = "redeemed", event.timestamp
        elif topic == "Customer.MailSettled" and event.permit_id in found:
            permit = found[event.permit_id]
            permit.state, permit.settled = str(event.state), event.timestamp
    return list(found.values())


def same_as_model(ledger: HistoryLedger, model: Model) -> None:
    """Permits, breakers, holds and invoices equal those of the model."""
    model.holdings.lapse(model.now)
    for permit_id, stored in ledger.permits().items():
        state = str(stored.lapsed_state(model.now) or stored.state)
        assert (permit_id, state) == (permit_id, model.holdings.permits[permit_id].state)
    assert len(ledger.permits()) == len(model.holdings.permits)
    replayed = replay(ledger.events())
    for name, customer in model.customers.items():
        aggregate = replayed[aggregate_id("customer", name)]
        breaker = aggregate.breaker.scope if aggregate.breaker else None
        assert (name, breaker) == (name, customer.breaker)
        assert aggregate.addresses == tuple(customer.addresses)
    for name, holds in model.mailboxes.items():
        mailbox = replayed.get(aggregate_id("address", name))
        for kind in ("reminder", "reply", "digest", "notification"):
            theirs = bool(mailbox and mailbox.held(model.now, kind))
            assert (name, kind, theirs) == (name, kind, holds.held(model.now, kind))
    for name, invoice in model.invoices.items():
        if invoice.snapshot is None:
            continue
        standing = replayed[aggregate_id("invoice", name)].standing
        ours = (invoice.status(), invoice.owed(), invoice.cycle, invoice.starts())
        theirs = (standing.status, standing.balance, standing.cycle, standing.starts_on)
        assert (name, *theirs) == (name, *ours)
    assert all(p.state in LIVE or p.settled for p in model.holdings.permits.values())
