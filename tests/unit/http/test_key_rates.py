"""What one key may ask for at once and in a second, by a stopwatch that the test holds."""

import pytest

from api.http.key_rates import KeyRates
from api.settings.greedy_callers import BadBound, PerKey, read_door, read_per_key
from ledger.application.answers import Answer


def _headers(answer: Answer | None) -> dict[str, str]:
    assert answer is not None
    assert answer.status == 429
    assert b'"code":"rate_limited"' in answer.body
    assert b'"retryable":true' in answer.body
    return dict(answer.headers)


def test_a_key_may_ask_so_often_in_a_second_and_earns_more_with_time() -> None:
    limits = KeyRates(PerKey(a_second=4, at_once=100))
    assert [limits.enter("a", 10.0) for _ in range(4)] == [None] * 4
    assert _headers(limits.enter("a", 10.0)) == {
        "Retry-After": "1",
        "RateLimit-Policy": '"requests";q=4;w=1',
        "RateLimit": '"requests";r=0;t=1',
    }
    assert limits.enter("a", 10.25) is None
    assert limits.enter("a", 10.25) is not None
    assert [limits.enter("a", 99.0) for _ in range(5)].count(None) == 4


def test_a_key_may_have_so_many_requests_at_once() -> None:
    limits = KeyRates(PerKey(a_second=100, at_once=2))
    assert [limits.enter("a", 0.0) for _ in range(2)] == [None] * 2
    assert _headers(limits.enter("a", 0.0)) == {
        "Retry-After": "1",
        "RateLimit-Policy": '"concurrent";q=2',
        "RateLimit": '"concurrent";r=0;t=1',
    }
    limits.leave("a")
    assert limits.enter("a", 0.0) is None


def test_keys_do_not_share() -> None:
    limits = KeyRates(PerKey(a_second=1, at_once=1))
    assert limits.enter("a", 0.0) is None
    assert limits.enter("b", 0.0) is None
    assert limits.enter("a", 0.0) is not None


def test_what_is_kept_of_keys_has_a_bound_and_loses_nobody_who_is_being_answered() -> None:
    limits = KeyRates(PerKey(a_second=1, at_once=1))
    assert limits.enter("busy", 0.0) is None
    for number in range(20_000):
        assert limits.enter(str(number), 0.0) is None
        limits.leave(str(number))
    assert limits.enter("busy", 0.0) is not None
    limits.leave("busy")
    assert len(limits._used) <= 10_001


def test_settings_give_the_bounds() -> None:
    env = {
        "LEDGER_KEY_REQUESTS_PER_SECOND": "7",
        "LEDGER_KEY_REQUESTS_AT_ONCE": "8",
        "LEDGER_KEY_COMMANDS": "9",
        "LEDGER_CONNECTIONS": "40",
        "LEDGER_CONNECTIONS_PER_PEER": "20",
        "LEDGER_HEAD_SECONDS": "2",
        "LEDGER_BODY_SECONDS": "3",
        "LEDGER_IDLE_SECONDS": "4",
    }
    assert read_per_key(env) == PerKey(7, 8, 9)
    door = read_door(env)
    assert (door.connections, door.a_peer) == (40, 20)
    assert (door.first_byte, door.head, door.body, door.idle) == (2, 2, 3, 4)
    assert read_per_key({}) == PerKey()


@pytest.mark.parametrize("given", ["0", "-1", "1.5", "many", "１０", "9999999"])
def test_a_bound_is_a_whole_number_in_its_range(given: str) -> None:
    with pytest.raises(BadBound, match="LEDGER_KEY_REQUESTS_PER_SECOND is a whole number from 1"):
        read_per_key({"LEDGER_KEY_REQUESTS_PER_SECOND": given})
