"""The judge of a torture run finds each breach that is built into a history, and no other."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.torture.history import LONG_AGO, Ended, Granted, Heard, Log
from tests.torture.judge import breaches

SEND = ("notification", "cus", "evt")
OTHER = ("notification", "cus", "other")
A, B, C = "permit-a", "permit-b", "permit-c"


def sound() -> tuple[list[Heard], Log]:
    """Two mails of one customer: one was sent, one refused and sent again after that."""
    heard = [
        Heard("ask", SEND, 201, A),
        Heard("redeem", SEND, 503, A, committed="unknown"),
        Heard("redeem", SEND, 200, A),
        Heard("handed over", SEND, 0, A),
        Heard("report", SEND, 200, A, "sent"),
        Heard("ask", OTHER, 201, B),
        Heard("redeem", OTHER, 200, B),
        Heard("handed over", OTHER, 0, B),
        Heard("refused", OTHER, 0, B),
        Heard("report", OTHER, 200, B, "rejected"),
        Heard("ask", OTHER, 201, C),
        Heard("redeem", OTHER, 200, C),
        Heard("handed over", OTHER, 0, C),
        Heard("ask", ("reminder", "inv", "day-7"), 409, None, "nothing_owed"),
    ]
    log = Log(
        [Granted(1, A, "cus", "outreach"), Granted(4, B, "cus", "outreach")],
        [Ended(3, A, "sent"), Ended(6, B, "rejected")],
        {A, B, C},
        {"inv": 9},
    )
    log.granted.append(Granted(8, C, "cus", "outreach"))
    return heard, log


def test_a_sound_history_has_no_breach() -> None:
    assert breaches(*sound(), per_day=2) == []


@pytest.mark.parametrize(
    ("heard", "told"),
    [
        (Heard("handed over", SEND, 0, A), "was handed over 2 times, refused 0 times"),
        (Heard("ask", SEND, 201, B), f"was granted as {A} and, before that was freed, as {B}"),
        (Heard("ask", SEND, 201, "nowhere"), "nowhere was granted and is not in the log"),
        (Heard("redeem", SEND, 200, "nowhere"), "nowhere was redeemed, and the log does not"),
        (Heard("report", SEND, 200, A, "unknown"), f"{A} was reported unknown, and the log"),
        (Heard("pay", ("pay", "unpaid"), 200), "the payment of unpaid was taken and is not"),
        (Heard("ask", SEND, 500), "was answered 500"),
    ],
)
def test_what_a_client_heard_too_much_is_found(heard: Heard, told: str) -> None:
    """Given a sound history, when one more answer is heard, the judge says what is wrong."""
    sound_heard, log = sound()
    found = breaches([*sound_heard, heard], log, per_day=2)
    assert any(told in breach for breach in found), found


def test_a_mail_past_the_cap_is_found() -> None:
    heard, log = sound()
    log.granted.append(Granted(12, "third", "cus", "outreach"))
    assert breaches(heard, log, per_day=2) == ["cus has 3 mails at position 12"]


def test_a_reminder_after_the_payment_is_found() -> None:
    heard, log = sound()
    late = Granted(10, "late", "debtor", "outreach", ("inv",))
    log.granted.append(late)
    assert breaches(heard, log, per_day=2) == ["late reminds of inv, which was paid before"]
    log.granted[-1] = replace(late, position=8)
    assert breaches(heard, log, per_day=2) == []


def test_a_certain_no_that_was_a_yes_is_found() -> None:
    heard, log = sound()
    told = [Heard("redeem", SEND, 503, "quiet", committed="no")] * 2
    assert breaches([*heard, *told], log, per_day=2) == []
    log.redeemed.add("quiet")
    (found,) = breaches([*heard, *told], log, per_day=2)
    assert "every redeem said that nothing happened" in found


@pytest.mark.parametrize(
    ("tries", "found"),
    [
        ([("no", 503)], [f"{A} was granted by a try that had said that nothing was granted"]),
        ([("no", 503), ("unknown", 503)], []),
        ([("no", 503), (None, 0)], []),
        ([], []),
    ],
    ids=["no", "nobody knows", "no answer", "none"],
)
def test_a_grant_that_a_no_had_made_is_found(
    tries: list[tuple[str | None, int]], found: list[str]
) -> None:
    """Given some tries with one Idempotency-Key, when the next one brings a grant again, one of
    them had made it; where all of them had said no, that was wrong."""
    heard, log = sound()
    told = [Heard("ask", SEND, status, committed=said, call="k") for said, status in tries]
    again = Heard("ask", SEND, 200, A, replayed=True, call="k")
    assert breaches([*heard, *told, again], log, per_day=2) == found


def test_a_grant_of_a_time_to_come_is_found() -> None:
    heard, log = sound()
    log.read_at = LONG_AGO
    log.granted[-1] = replace(log.granted[-1], recorded_at=LONG_AGO + timedelta(minutes=4))
    assert breaches(heard, log, per_day=2) == []
    log.granted[-1] = replace(log.granted[-1], recorded_at=LONG_AGO + timedelta(days=30))
    (found,) = breaches(heard, log, per_day=2)
    assert found.startswith(f"{C} was granted at 2026-01-31")


def test_a_log_whose_time_goes_back_is_found() -> None:
    heard, log = sound()
    log.granted[1] = replace(log.granted[1], recorded_at=LONG_AGO + timedelta(seconds=1))
    assert breaches(heard, log, per_day=2) == [
        f"{C} was granted at an earlier time than {B}",
    ]


def test_the_logs_of_two_primaries_are_read_as_one() -> None:
    """What both hold counts once; what only one holds is acknowledged all the same."""
    heard, old = sound()
    _, new = sound()
    only_old = Granted(12, "only-old", "other", "outreach")
    old.granted.append(only_old)
    asked = Heard("ask", ("notification", "other", "evt"), 201, "only-old")
    assert breaches([*heard, asked], old.with_those_of(new), per_day=2) == []
    assert breaches([*heard, asked], new, per_day=2) == [
        "only-old was granted and is not in the log"
    ]
