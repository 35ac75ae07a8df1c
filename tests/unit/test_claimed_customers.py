"""Customers whom claims pass over: while they are decided, and until the read models know."""

import asyncio

import pytest

from api.claimed_customers import Claim, ClaimedCustomers, PassedOver
from ledger.application.ports import StoreUnavailable


def test_at_first_nobody_is_passed_over() -> None:
    assert ClaimedCustomers().pass_over() == PassedOver([], None)


def test_who_is_being_decided_is_passed_over_and_nothing_is_waited_for() -> None:
    claimed = ClaimedCustomers()
    Claim(claimed).asks(["a"])
    assert claimed.pass_over() == PassedOver(["a"], None)


def test_who_has_a_permit_is_passed_over_until_the_read_models_tell_of_it() -> None:
    claimed = ClaimedCustomers()
    claim = Claim(claimed)
    claim.asks(["a", "b", "c"])
    claim.granted("a", 7)
    claim.granted("b", 9)
    assert claimed.pass_over() == PassedOver(["c", "a", "b"], 9)
    claimed.forget(7)
    assert claimed.pass_over() == PassedOver(["c", "b"], 9)
    claimed.forget(9)
    assert claimed.pass_over() == PassedOver(["c"], None)


def test_who_was_denied_can_be_asked_for_again_at_once() -> None:
    claimed = ClaimedCustomers()
    claim = Claim(claimed)
    claim.asks(["a"])
    claim.denied("a")
    assert claimed.pass_over() == PassedOver([], None)


def test_whose_answer_nobody_waited_for_is_passed_over_until_the_next_commit_is_known() -> None:
    """A claim whose caller went away may have been decided: the next commit holds it."""
    claimed = ClaimedCustomers()
    claim, other = Claim(claimed), Claim(claimed)
    claim.asks(["a", "b"])
    other.asks(["c"])
    claim.granted("a", 7)
    claim.close(10)
    assert (claimed.asked, claimed.granted) == ({"c"}, {"a": 7, "b": 11})


def test_who_was_answered_is_not_touched_when_the_claim_ends() -> None:
    """Another claim may be asking for the same customer by then."""
    claimed = ClaimedCustomers()
    claim, other = Claim(claimed), Claim(claimed)
    claim.asks(["a"])
    claim.denied("a")
    other.asks(["a"])
    claim.close(10)
    assert (claimed.asked, claimed.granted) == ({"a"}, {})


def test_too_many_with_a_permit_are_said_to_be_many() -> None:
    claimed = ClaimedCustomers(most=2)
    claim = Claim(claimed)
    claim.granted("a", 1)
    assert not claimed.many
    claim.granted("b", 2)
    assert claimed.many
    claimed.forget(1)
    assert not claimed.many


def test_one_claim_at_a_time_looks_for_customers_and_none_waits_for_ever() -> None:
    async def scenario() -> None:
        claimed = ClaimedCustomers(patience=0.01)
        async with claimed.alone():
            with pytest.raises(StoreUnavailable, match="other claims"):
                async with claimed.alone():
                    raise AssertionError("two at once")
        async with claimed.alone():
            assert claimed.pass_over() == PassedOver([], None)

    asyncio.run(scenario())
