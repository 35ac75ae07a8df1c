"""A trial is taken back without a trace; copies of aggregates share nothing that can change."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields, is_dataclass
from typing import Any
from uuid import UUID

import pytest

from ledger.application.copies import copied
from ledger.domain.hold import HoldBook
from ledger.domain.invoice import Invoice
from tests.support.build import (
    OPERATOR,
    RECEIPTS,
    at,
    credit,
    customer,
    customer_hold,
    delivery,
    follow_up,
    hold,
    intent,
    invoice,
    merged,
    message,
    notification,
    paid,
    payment_failed,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.given import Scenario, given


def everything() -> Scenario:
    """A ledger in which most of what an aggregate can hold is held by some."""
    return given(
        at("2026-12-10"),
        invoice(email="pat@example.com"),
        invoice("inv_2", "cus_2", email="kim@example.com"),
        paid(100),
        credit(100),
        reminder(),
        redeem(),
        report(),
        payment_failed(by=OPERATOR),
        message(sender="pat@example.com"),
        reply(),
        report(outcome="rejected"),
        follow_up(by=RECEIPTS),
        intent(by=RECEIPTS),
        notification(by=RECEIPTS),
        hold(),
        customer_hold(),
        customer("cus_1", "a@example.com", "b@example.com"),
        merged("cus_2", "cus_1"),
        delivery("bounced", id="re_1"),
    )


def test_a_copy_is_equal_and_shares_nothing_that_can_change() -> None:
    aggregates = everything().store.replay()
    assert {type(one).__name__ for one in aggregates.values()} >= {"Invoice", "Customer", "Thread"}
    for one in aggregates.values():
        other = copied(one)
        assert other == one
        assert type(other) is type(one)
        assert not {id(part) for part in _changeable(one)} & {id(p) for p in _changeable(other)}


def _changeable(value: Any) -> Iterator[Any]:
    """The value and its parts, as far as they can change."""
    if isinstance(value, dict):
        yield value
        parts = list(value.values())
    elif isinstance(value, list | set | tuple | frozenset):
        if isinstance(value, list | set):
            yield value
        parts = list(value)
    elif is_dataclass(value):
        made: Any = value.__dataclass_params__  # type: ignore[attr-defined]
        if not (made.frozen or made.unsafe_hash):
            yield value
        parts = [getattr(value, field.name) for field in fields(value)]
    elif hasattr(value, "__dict__") and not isinstance(value, UUID | type):
        yield value
        parts = list(value.__dict__.values())
    else:
        parts = []
    for part in parts:
        yield from _changeable(part)


@pytest.mark.parametrize(
    "value", [None, 1, "text", at("2026-12-10"), ("a",), frozenset({"a"}), UUID(int=1)], ids=repr
)
def test_what_cannot_change_is_shared(value: Any) -> None:
    assert copied(value) is value


def test_values_are_shared() -> None:
    (invoice_,) = (
        a for a in everything().store.replay().values() if type(a) is Invoice and a.money
    )
    other = copied(invoice_)
    assert other.snapshot is invoice_.snapshot
    assert [id(fact) for fact in other.money.values()] == [id(f) for f in invoice_.money.values()]


def test_books_within_books_are_copied() -> None:
    book = HoldBook({"dispute": {"": None}})  # type: ignore[dict-item]
    other = copied(book)
    other.holds["dispute"]["x"] = None
    assert book.holds == {"dispute": {"": None}}


def test_a_change_to_a_copy_leaves_the_original() -> None:
    scenario = everything()
    before = scenario.store.replay()
    kept = deepcopy(before)
    copies = {id_: copied(one) for id_, one in before.items()}
    count = len(scenario.store.rows)
    scenario.when(paid(500, id="pay_2"), message("<m9@x>", sender="pat@example.com"), reminder())
    for row in scenario.store.rows[count:]:
        copies[row.originator_id] = row.event().mutate(copies.get(row.originator_id))
    assert before == kept
    assert copies == scenario.store.replay()
