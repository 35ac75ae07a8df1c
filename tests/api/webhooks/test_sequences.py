"""The replayable sequences of the samples, in any order, repeated, and on four connections at once.

What holds of the final state: it is that of one clean delivery, in every order. What holds of the
log: deliveries after the first leave nothing, so it is the log of one delivery of each event in the
order in which they arrived first; in the right order that is the log of one clean delivery. A
snapshot that is older than the one on record changes nothing (contract, Facts), so in other orders
the log lacks the snapshots that were stale by then, and nothing else.
"""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.api.webhooks.orders import Run, firsts
from tests.support.service import Service


@dataclass(frozen=True)
class Sequence:
    """An invoice's events in the order in which they happened."""

    invoice_id: str
    customer_id: str
    paths: tuple[str, ...]

    def run(self, hooks: Service) -> Run:
        """A run of it under names of its own."""
        return Run(hooks, self.invoice_id, self.customer_id)


def _stripe(last: str) -> Sequence:
    names = (
        "invoice.overdue",
        "invoice.updated.due_date_changed",
        "invoice.updated.partially_paid",
        "credit_note.created.pre_payment",
        last,
    )
    paths = tuple(f"stripe/{name}.constructed.json" for name in names)
    return Sequence("in_example_0001", "cus_example_0001", paths)


SEQUENCES = {
    "chargebee": Sequence(
        "19",
        "16CHTpRzjKx2O7mo",
        (
            "chargebee/invoice_generated.posted.json",
            "chargebee/invoice_updated.payment_due.json",
            "chargebee/invoice_updated.partially_paid.constructed.json",
            "chargebee/invoice_updated.voided.constructed.json",
        ),
    ),
    "stripe-uncollectible": _stripe("invoice.marked_uncollectible"),
    "stripe-open": Sequence(
        "in_example_0001", "cus_example_0001", _stripe("invoice.voided").paths[:-1]
    ),
    "stripe-voided": _stripe("invoice.voided"),
    "recurly-xml": Sequence(
        "42feb03ce368c0e1ead35d4bfa89b82e",
        "1234",
        (
            "recurly/new_charge_invoice_notification.xml",
            "recurly/past_due_charge_invoice_notification.constructed.xml",
        ),
    ),
}
CLEAN: dict[str, tuple[dict[str, Any], list[tuple[str, Any]]]] = {}
EXPECTED = {
    "chargebee": ("void", 0, "2020-10-18"),
    "stripe-uncollectible": ("uncollectible", 4900, "2026-11-05"),
    "stripe-open": ("paid", 0, "2026-11-05"),
    "stripe-voided": ("void", 24900, "2026-10-21"),
    "recurly-xml": ("open", 40000, "2018-03-16"),
}
"""Status, balance and due date after all. The credit of 4900 settles what was left of the invoice;
the snapshot that wrote it off was made later and says that 4900 are still unpaid."""


def clean(hooks: Service, name: str) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """State and log after one delivery of each event in the right order."""
    if name not in CLEAN:
        run = SEQUENCES[name].run(hooks)
        assert set(run.deliver(SEQUENCES[name].paths)) == {"applied"}
        CLEAN[name] = (run.state(), run.log())
    return CLEAN[name]


@pytest.mark.parametrize("name", SEQUENCES)
def test_the_clean_delivery_leads_to_what_the_provider_says(hooks: Service, name: str) -> None:
    state, log = clean(hooks, name)
    invoice = state["invoice"]
    assert (invoice["status"], invoice["amount_remaining"], invoice["due_on"]) == EXPECTED[name]
    assert (invoice["cycle"], len(log)) == (1, len(SEQUENCES[name].paths) + created(log))


def created(log: list[tuple[str, Any]]) -> int:
    """How many events of a log are not about a snapshot or money: registrations and addresses."""
    facts = ("ledger:Invoice.Observed", "ledger:Invoice.MoneyMoved")
    return sum(topic not in facts for topic, _ in log)


@pytest.mark.parametrize("name", SEQUENCES)
def test_each_event_five_times_in_order_leaves_the_clean_log(hooks: Service, name: str) -> None:
    run = SEQUENCES[name].run(hooks)
    results = run.deliver(path for path in SEQUENCES[name].paths for _ in range(5))
    assert results == ["applied", *["duplicate"] * 4] * len(SEQUENCES[name].paths)
    assert (run.state(), run.log()) == clean(hooks, name)


@pytest.mark.parametrize("name", SEQUENCES)
def test_the_whole_sequence_twice_leaves_the_clean_log(hooks: Service, name: str) -> None:
    run = SEQUENCES[name].run(hooks)
    run.deliver(SEQUENCES[name].paths * 2)
    assert (run.state(), run.log()) == clean(hooks, name)


@pytest.mark.parametrize("name", SEQUENCES)
def test_each_event_on_four_connections_at_once_leaves_the_clean_log(
    hooks: Service, name: str
) -> None:
    run = SEQUENCES[name].run(hooks)
    for path in SEQUENCES[name].paths:
        assert sorted(run.deliver_at_once([path] * 5)) == ["applied", *["duplicate"] * 4]
    assert (run.state(), run.log()) == clean(hooks, name)


@pytest.mark.parametrize("name", SEQUENCES)
def test_other_orders_lead_to_the_clean_state(hooks: Service, name: str) -> None:
    """Reversed, and each event first; all orders are tried without HTTP in test_every_order.py."""
    state, _ = clean(hooks, name)
    paths = SEQUENCES[name].paths
    for order in (paths[::-1], *(paths[i:] + paths[:i] for i in range(1, len(paths)))):
        run = SEQUENCES[name].run(hooks)
        results = run.deliver(order)
        assert run.state() == state, order
        assert set(results) <= {"applied", "stale"}
        assert len(run.log()) - created(run.log()) == results.count("applied")


arrivals = st.sampled_from(sorted(SEQUENCES)).flatmap(
    lambda name: st.tuples(
        st.just(name),
        st.lists(
            st.integers(1, 5),
            min_size=len(SEQUENCES[name].paths),
            max_size=len(SEQUENCES[name].paths),
        ).flatmap(
            lambda copies: st.permutations(
                [p for p, n in zip(SEQUENCES[name].paths, copies, strict=True) for _ in range(n)]
            )
        ),
    )
)


@settings(max_examples=20)
@given(arrived=arrivals)
def test_shuffled_and_repeated_only_the_first_arrivals_count(
    shared_hooks: Service, arrived: tuple[str, list[str]]
) -> None:
    name, order = arrived
    sequence = SEQUENCES[name]
    run, once = sequence.run(shared_hooks), sequence.run(shared_hooks)
    results = run.deliver(order)
    assert once.deliver(firsts(order)) == [r for r in results if r != "duplicate"]
    assert run.state() == once.state() == clean(shared_hooks, name)[0]
    assert run.log() == once.log()


@settings(max_examples=8)
@given(arrived=arrivals)
def test_shuffled_and_repeated_on_four_connections_at_once(
    shared_hooks: Service, arrived: tuple[str, list[str]]
) -> None:
    """Whichever got through first: each event once, and the log of their clean delivery."""
    name, order = arrived
    sequence = SEQUENCES[name]
    run, once = sequence.run(shared_hooks), sequence.run(shared_hooks)
    results = run.deliver_at_once(order)
    for path in sequence.paths:
        mine = [r for p, r in zip(order, results, strict=True) if p == path]
        assert len([r for r in mine if r != "duplicate"]) == 1
    assert run.state() == clean(shared_hooks, name)[0]
    marks = dict(zip(facts_of(clean(shared_hooks, name)[1]), sequence.paths, strict=True))
    through = [marks[told] for told in facts_of(run.log())]
    applied = {p for p, r in zip(order, results, strict=True) if r == "applied"}
    assert set(through) == applied
    assert set(once.deliver(through)) == {"applied"}
    assert run.log() == once.log()


def facts_of(log: list[tuple[str, Any]]) -> list[str]:
    """What tells the facts of a log apart: when a snapshot was made, or the name of a payment."""
    found = []
    for topic, state in log:
        if topic == "ledger:Invoice.Observed":
            found.append(state["snapshot"]["observed_at"])
        elif topic == "ledger:Invoice.MoneyMoved":
            found.append(state["fact"]["name"])
    return found
