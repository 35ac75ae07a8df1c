"""Holds by reason, with and without an end, whatever the order of the news."""

import itertools
from datetime import datetime

import pytest

from ledger.domain.hold import Hold, HoldBook, is_of_sort
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
    assert book.words() == (words[2],)


def test_the_same_word_again_is_no_news() -> None:
    book = HoldBook()
    hold = Hold("dispute", True, NOW)
    book.note(hold)
    assert not book.newer(hold)
    assert not book.newer(Hold("dispute", False, NOW - days(1)))
    assert book.newer(Hold("dispute", False, NOW))


def noted(*words: Hold) -> HoldBook:
    """A book after these words."""
    book = HoldBook()
    for word in words:
        book.note(word)
    return book


def bound(book: HoldBook) -> set[str]:
    """Which of three kinds are held back some days later."""
    later = NOW + days(9)
    return {k for k in ("digest", "notification", "reply") if book.binding(later, k) is not None}


def test_holds_of_one_reason_add_up_by_kind() -> None:
    first = Hold("unsubscribed", True, NOW, kinds=("digest",))
    second = Hold("unsubscribed", True, NOW + days(1), kinds=("notification",))
    for order in ((first, second), (second, first)):
        assert bound(noted(*order)) == {"digest", "notification"}


def test_a_release_takes_away_the_kinds_that_it_names_and_no_other() -> None:
    held = Hold("unsubscribed", True, NOW, kinds=("digest", "notification"))
    freed = Hold("unsubscribed", False, NOW + days(1), kinds=("notification",))
    assert bound(noted(held, freed)) == {"digest"}
    assert bound(noted(freed, held)) == {"digest"}
    assert bound(noted(held, freed, Hold("unsubscribed", False, NOW + days(2)))) == set()


def test_a_hold_for_all_kinds_keeps_the_others_where_one_is_released() -> None:
    everything = Hold("unsubscribed", True, NOW)
    freed = Hold("unsubscribed", False, NOW + days(1), kinds=("digest",))
    assert bound(noted(everything, freed)) == {"notification", "reply"}
    assert bound(noted(freed, everything)) == {"notification", "reply"}
    again = Hold("unsubscribed", True, NOW + days(2))
    assert bound(noted(everything, freed, again)) == {"digest", "notification", "reply"}


def test_a_word_for_all_kinds_is_the_last_on_each_kind_told_before_it() -> None:
    held = Hold("unsubscribed", True, NOW, kinds=("digest", "notification"))
    everything = Hold("unsubscribed", False, NOW + days(1))
    late = Hold("unsubscribed", True, NOW + days(1) - datetime.resolution, kinds=("digest",))
    book = noted(held, everything)
    assert book.words() == (everything,)
    assert not book.newer(late)
    assert book.newer(Hold("unsubscribed", True, NOW + days(1), kinds=("digest",)))


def test_what_is_kept_can_be_noted_again_and_says_the_same() -> None:
    kinds = [(), ("digest",), ("notification", "digest"), ("reply",)]
    words = [
        Hold("unsubscribed", held, NOW + days(day), kinds=k)
        for k in kinds
        for held in (True, False)
        for day in (0, 1)
    ]
    for order in itertools.permutations(words, 3):
        book = noted(*order)
        again = noted(*book.words())
        assert (again.holds, bound(again)) == (book.holds, bound(book))


def test_holds_in_force_name_the_kinds_that_they_still_bind() -> None:
    book = noted(
        Hold("unsubscribed", True, NOW, kinds=("digest", "notification")),
        Hold("unsubscribed", False, NOW + days(1), kinds=("digest",)),
        Hold("bounced", True, NOW),
        Hold("over", True, NOW, NOW + days(1)),
    )
    assert book.in_force(NOW + days(1)) == [
        ("", Hold("unsubscribed", True, NOW, None, ("notification",))),
        ("", Hold("bounced", True, NOW)),
    ]


def test_one_reason_can_be_passed_over() -> None:
    book = noted(Hold("unsubscribed", True, NOW), Hold("bounced", True, NOW, NOW + days(2)))
    found = book.binding(NOW, "reply", but="unsubscribed")
    assert found is not None
    assert found.reason == "bounced"
    assert book.binding(NOW + days(2), "reply", but="unsubscribed") is None
    assert book.bound_by("unsubscribed", NOW + days(2), "reply") is not None
    assert book.bound_by("bounced", NOW + days(2), "reply") is None


def test_a_copy_of_a_book_is_written_to_without_changing_it() -> None:
    book = noted(Hold("bounced", True, NOW))
    book.copy().note(Hold("bounced", False, NOW + days(1)))
    assert bound(book) == {"digest", "notification", "reply"}


def test_lists_that_were_left_are_of_one_sort_and_each_is_lifted_by_itself() -> None:
    book = HoldBook()
    for name in ("group 10", "group 11"):
        book.note(Hold(f"unsubscribed: {name}", True, NOW, kinds=("digest",)))
    assert book.binding(NOW, "digest", but="unsubscribed") is None
    assert book.bound_by("unsubscribed", NOW, "reminder") is None
    book.note(Hold("unsubscribed: group 10", False, NOW, kinds=("digest",)))
    found = book.bound_by("unsubscribed", NOW, "digest")
    assert found is not None
    assert found.reason == "unsubscribed: group 11"
    book.note(Hold("unsubscribed: group 11", False, NOW, kinds=("digest",)))
    assert book.bound_by("unsubscribed", NOW, "digest") is None
    assert is_of_sort("unsubscribed", "unsubscribed")
    assert not is_of_sort("unsubscribed by fax", "unsubscribed")
