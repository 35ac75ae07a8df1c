"""Customers whom claims pass over: while they are decided, and until the read models know."""

import asyncio

import pytest

from api.claims.claimed_customers import Claim, ClaimedCustomers, Skipped
from ledger.application.ports import StoreUnavailable


def test_at_first_nobody_is_passed_over() -> None:
    assert ClaimedCustomers().to_skip() == Skipped([], None)


def test_who_is_being_decided_is_passed_over_and_nothing_is_waited_for() -> None:
    claimed = ClaimedCustomers()
    Claim(claimed).asks(["a"])
    assert claimed.to_skip() == Skipped(["a"], None)


def test_who_has_a_permit_is_passed_over_until_the_read_models_tell_of_it() -> None:
    claimed = ClaimedCustomers()
    claim = Claim(claimed)
    claim.asks(["a", "b", "c"])
    claim.answered("a", 7)
    claim.answered("b", 9)
    assert claimed.to_skip() == Skipped(["c", "a", "b"], 9)
    claimed.forget(7)
    assert claimed.to_skip() == Skipped(["c", "b"], 9)
    claimed.forget(9)
    assert claimed.to_skip() == Skipped(["c"], None)


def test_the_claims_own_are_passed_over_and_not_waited_for() -> None:
    claimed = ClaimedCustomers()
    claim = Claim(claimed)
    claim.asks(["a", "b", "c"])
    claim.answered("a", 7)
    claim.answered("b", 9)
    found = claimed.to_skip(["b", "c"])
    assert (set(found.customers), found.until) == ({"a", "b", "c"}, 7)


def test_who_was_denied_can_be_asked_for_again_at_once() -> None:
    claimed = ClaimedCustomers()
    claim = Claim(claimed)
    claim.asks(["a"])
    claim.answered("a", None)
    assert claimed.to_skip() == Skipped([], None)


def test_whose_answer_nobody_waited_for_can_be_asked_for_when_the_claim_has_ended() -> None:
    async def fail(claimed: ClaimedCustomers) -> None:
        async with claimed.one_of_few() as claim:
            claim.asks(["a", "b"])
            claim.answered("a", 7)
            raise ValueError("ours")

    async def scenario() -> None:
        claimed = ClaimedCustomers()
        async with claimed.one_of_few() as other:
            other.asks(["c"])
            with pytest.raises(ValueError, match="ours"):
                await fail(claimed)
            assert (claimed.asked, claimed.unseen) == ({"c"}, {"a": 7})

    asyncio.run(scenario())


def test_who_was_answered_is_not_touched_when_the_claim_ends() -> None:
    """Another claim may be asking for the same customer by then."""
    claimed = ClaimedCustomers()
    claim, other = Claim(claimed), Claim(claimed)
    claim.asks(["a"])
    claim.answered("a", None)
    other.asks(["a"])
    claim.close()
    assert claimed.asked == {"a"}


def test_no_more_permits_are_remembered_than_there_is_room_for() -> None:
    claimed = ClaimedCustomers(most=2)
    claim = Claim(claimed)
    claim.answered("a", 1)
    assert not claimed.full
    claim.answered("b", 2)
    claim.answered("c", 3)
    assert claimed.full
    assert claimed.unseen == {"a": 1, "b": 2}
    claimed.forget(1)
    assert not claimed.full


def test_one_claim_at_a_time_looks_for_customers_and_none_waits_for_ever() -> None:
    async def scenario() -> None:
        claimed = ClaimedCustomers(patience=0.01)
        async with claimed.alone():
            with pytest.raises(StoreUnavailable, match="ask again"):
                async with claimed.alone():
                    raise AssertionError("two at once")
        async with claimed.alone():
            assert claimed.to_skip() == Skipped([], None)

    asyncio.run(scenario())


def test_few_claims_run_at_once_and_the_next_has_the_place_of_the_one_that_ends() -> None:
    async def scenario() -> None:
        claimed = ClaimedCustomers(at_once=2, patience=0.01)
        async with claimed.one_of_few():
            async with claimed.one_of_few():
                with pytest.raises(StoreUnavailable, match="ask again"):
                    async with claimed.one_of_few():
                        raise AssertionError("one too many")
            async with claimed.one_of_few() as claim:
                claim.asks(["a"])
                assert claimed.asked == {"a"}

    asyncio.run(scenario())
