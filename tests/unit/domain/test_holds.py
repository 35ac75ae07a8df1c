"""Holds by reason, with and without an end, whatever the order of the news."""

import itertools
from datetime import datetime

import pytest

from ledger.domain.hold import Hold, HoldBook
from tests.support.build import at, days

NOW = at("2026-12-04T12:00:00Z")


def test_a_hold_without_an_end_binds_for_good() -> None:
    hold = Hold("dispute", True, NOW)
    assert hold.binds(NOW, "reminder")
    assert hold.binds(NOW + days(3650), "reply")


def test_a_hold_binds_until_its_end_and_no_longer() -> None:
    hold = Hold("promise", True, NOW, NOW + days(1))
    assert hold.binds(NOW + days(1) - datetime.resolution, "reminder")
    assert not hold.binds(NOW + days(1), "reminder")


def test_a_lifted_hold_binds_nothing() -> None:
    assert not Hold("dispute", False, NOW).binds(NOW, "reminder")


def test_a_hold_of_some_kinds_leaves_the_others_alone() -> None:
    hold = Hold("unsubscribed", True, NOW, kinds=("digest", "reminder"))
    assert hold.binds(NOW, "digest")
    assert not hold.binds(NOW, "reply")


def test_the_hold_that_lasts_longest_is_named() -> None:
    book = HoldBook()
    for hold in (
        Hold("a", True, NOW, NOW + days(1)),
        Hold("b", True, NOW, NOW + days(3)),
        Hold("c", True, NOW, NOW + days(2)),
        Hold("d", False, NOW),
    ):
        book.note(hold)
    found = book.binding(NOW, "reminder")
    assert found is not None
    assert found.reason == "b"
    assert book.until(NOW, "reminder") == (NOW + days(3), False)
    book.note(Hold("e", True, NOW))
    assert book.until(NOW, "reminder") == (None, True)


def test_no_hold_binds() -> None:
    book = HoldBook()
    book.note(Hold("over", True, NOW - days(2), NOW - days(1)))
    assert book.binding(NOW, "reminder") is None
    assert book.until(NOW, "reminder") == (None, False)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_newest_word_on_a_reason_stands_in_any_order(order: tuple[int, ...]) -> None:
    words = (
        Hold("dispute", True, NOW),
        Hold("dispute", False, NOW + days(1)),
        Hold("dispute", True, NOW + days(2), NOW + days(9)),
    )
    book = HoldBook()
    for index in order:
        if book.newer(words[index]):
            book.note(words[index])
    assert book.holds == {"dispute": words[2]}


def test_the_same_word_again_is_no_news() -> None:
    book = HoldBook()
    hold = Hold("dispute", True, NOW)
    book.note(hold)
    assert not book.newer(hold)
    assert not book.newer(Hold("dispute", False, NOW - days(1)))
    assert book.newer(Hold("dispute", False, NOW))
