"""The queue of waiting commands: who is taken when, and who loses a place where there is none."""

import pytest

from ledger.application.fair_queue import FairQueue, Full, Places, Rank

_PLACES = Places(callers=8, a_caller=6, operators=2, ledger=12)


def _queue(places: Places = _PLACES, **lanes: int) -> FairQueue[str]:
    """A queue in which each of these callers has so many commands: `a0`, `a1` and so on."""
    queue: FairQueue[str] = FairQueue(places)
    for caller, count in lanes.items():
        for number in range(count):
            assert queue.put(f"{caller}{number}", caller, Rank.CALLER) is None
    return queue


def test_callers_take_turns_however_many_commands_one_of_them_has() -> None:
    queue = _queue(a=4, b=1, c=2)
    assert queue.take(5) == ["a0", "b0", "c0", "a1", "c1"]
    assert queue.take(5) == ["a2", "a3"]
    assert queue.take(5) == []
    assert len(queue) == 0


def test_who_was_not_reached_is_first_in_the_next_turn() -> None:
    queue = _queue(a=2, b=2, c=2)
    assert queue.take(2) == ["a0", "b0"]
    assert queue.take(3) == ["c0", "a1", "b1"]


def test_one_caller_alone_has_every_place_of_a_batch() -> None:
    queue = _queue(a=6)
    assert queue.take(4) == ["a0", "a1", "a2", "a3"]
    assert len(queue) == 2


def test_in_a_full_queue_a_newcomer_gets_the_newest_place_of_the_longest_lane() -> None:
    queue = _queue(a=6, b=2)
    assert queue.put("c0", "c", Rank.CALLER) == "a5"
    assert queue.put("c1", "c", Rank.CALLER) == "a4"
    assert len(queue) == 8
    assert queue.take(8) == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "a3"]


def test_nobody_displaces_who_has_no_more_than_oneself() -> None:
    queue = _queue(a=4, b=4)
    with pytest.raises(Full) as refused:
        queue.put("a4", "a", Rank.CALLER)
    assert refused.value.of_caller is False
    assert queue.put("c0", "c", Rank.CALLER) in ("a3", "b3")


def test_the_longest_lane_is_refused_in_a_full_queue() -> None:
    queue = _queue(a=5, b=3)
    with pytest.raises(Full):
        queue.put("a5", "a", Rank.CALLER)
    assert queue.put("b3", "b", Rank.CALLER) == "a4"


def test_one_caller_has_no_more_places_than_one_may() -> None:
    queue = _queue(a=6)
    with pytest.raises(Full) as refused:
        queue.put("a6", "a", Rank.CALLER)
    assert refused.value.of_caller is True
    assert queue.put("b0", "b", Rank.CALLER) is None


def test_one_caller_who_may_have_all_places_hears_that_the_queue_is_full() -> None:
    queue = _queue(Places(callers=3, a_caller=3, operators=0, ledger=3), a=3)
    with pytest.raises(Full) as refused:
        queue.put("a3", "a", Rank.CALLER)
    assert refused.value.of_caller is False


def test_what_operators_do_is_taken_first_and_has_places_of_its_own() -> None:
    queue = _queue(a=6, b=2)
    assert queue.put("pause", "o", Rank.OPERATOR) is None
    assert queue.put("resume", "o", Rank.OPERATOR) is None
    assert queue.take(3) == ["pause", "resume", "a0"]


def test_more_than_the_operators_places_wait_as_a_callers() -> None:
    queue = _queue(a=1)
    for number in range(4):
        queue.put(f"o{number}", "o", Rank.OPERATOR)
    assert queue.take(8) == ["o0", "o1", "a0", "o2", "o3"]


def test_the_ledgers_own_commands_take_turns_with_callers_and_have_more_places() -> None:
    queue = _queue(a=6, b=2)
    for number in range(4):
        assert queue.put(f"l{number}", "system", Rank.LEDGER) is None
    with pytest.raises(Full):
        queue.put("l4", "system", Rank.LEDGER)
    assert queue.take(5) == ["l0", "a0", "b0", "l1", "a1"]
    assert queue.put("c0", "c", Rank.CALLER) is None


def test_callers_do_not_lose_their_places_to_the_ledger() -> None:
    queue: FairQueue[str] = FairQueue(_PLACES)
    for number in range(12):
        queue.put(f"l{number}", "system", Rank.LEDGER)
    assert queue.put("a0", "a", Rank.CALLER) is None
    assert queue.take(2) == ["l0", "a0"]


def test_the_shares_are_those_of_the_work_over_many_batches() -> None:
    """Sixteen batches of a thousand beside single questions: each of these is in the next batch."""
    queue: FairQueue[str] = FairQueue(Places(4096, 4096, 256, 5120))
    for number in range(4096):
        queue.put(f"g{number}", "greedy", Rank.CALLER)
    for number in range(60):
        displaced = queue.put(f"s{number}", "single", Rank.CALLER)
        assert displaced is not None
        assert displaced.startswith("g")
        assert f"s{number}" in queue.take(512)
        while len(queue) < 4096:
            queue.put("g", "greedy", Rank.CALLER)
