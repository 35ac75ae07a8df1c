"""The dunning ladder: which stage is due, from which instant, and why another one is not (D7)."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from ledger.domain.balance import Status
from ledger.domain.policy import Policy, Stage
from ledger.domain.reasons import Denial
from ledger.domain.stages import (
    Due,
    due_stage,
    local_midnight,
    money_obstacle,
    reached_at,
    record_of,
    stage_obstacle,
)
from tests.support.aggregates import InvoiceHistory
from tests.support.build import at

POLICY = Policy()
NEXT = Policy(catch_up="next")


def judge(history: InvoiceHistory, when: str, stage: str | None = None) -> Any:
    """What the ladder says of the invoice at that moment: (stage, superseded) or (code, when)."""
    wanted = history.policy.stage(stage) if stage else None
    found = stage_obstacle(history.invoice, wanted, at(when), history.policy)
    if isinstance(found, Due):
        return found.stage.name, found.supersedes
    return found.code, found.available_at


def due_on_the_first(policy: Policy = POLICY, **fields: Any) -> InvoiceHistory:
    return InvoiceHistory(policy, at("2026-11-20")).observed(due="2026-12-01", **fields)


@pytest.mark.parametrize(
    ("when", "stage", "says"),
    [
        ("2026-11-30T12:00Z", "day-3", ("not_past_due", at("2026-12-04T00:00Z"))),
        ("2026-12-01T23:59:59Z", "day-3", ("not_past_due", at("2026-12-04T00:00Z"))),
        ("2026-12-01T23:59:59Z", None, ("not_past_due", at("2026-12-04T00:00Z"))),
        ("2026-12-02T00:00Z", "day-3", ("not_reached", at("2026-12-04T00:00Z"))),
        ("2026-12-03T23:59:59Z", None, ("not_reached", at("2026-12-04T00:00Z"))),
        ("2026-12-03T23:59:59Z", "day-14", ("not_reached", at("2026-12-15T00:00Z"))),
        ("2026-12-04T00:00Z", "day-3", ("day-3", ())),
        ("2026-12-04T00:00Z", None, ("day-3", ())),
        ("2026-12-07T23:59:59Z", "day-7", ("not_reached", at("2026-12-08T00:00Z"))),
        ("2026-12-08T00:00Z", "day-7", ("day-7", ("day-3",))),
        ("2026-12-08T00:00Z", None, ("day-7", ("day-3",))),
        ("2026-12-08T00:00Z", "day-3", ("stage_superseded", None)),
        ("2026-12-15T00:00Z", None, ("day-14", ("day-3", "day-7"))),
        ("2027-12-15T00:00Z", None, ("day-14", ("day-3", "day-7"))),
    ],
)
def test_a_stage_is_reached_on_its_calendar_day(when: str, stage: str | None, says: Any) -> None:
    assert judge(due_on_the_first(), when, stage) == says


def test_a_superseded_stage_names_the_one_that_is_due() -> None:
    history = due_on_the_first()
    denial = stage_obstacle(history.invoice, POLICY.stages[0], at("2026-12-08"), POLICY)
    assert isinstance(denial, Denial)
    assert denial.due_stage == "day-7"


def test_the_date_on_which_each_stage_was_crossed_is_kept() -> None:
    history = due_on_the_first()
    due = stage_obstacle(history.invoice, None, at("2026-12-20"), POLICY)
    assert isinstance(due, Due)
    assert due.crossed == {
        "day-3": date(2026, 12, 4),
        "day-7": date(2026, 12, 8),
        "day-14": date(2026, 12, 15),
    }


@pytest.mark.parametrize(
    ("zone", "due", "before", "reached"),
    [
        ("UTC", "2026-12-01", "2026-12-03T23:59:59Z", "2026-12-04T00:00:00Z"),
        ("Pacific/Kiritimati", "2026-12-01", "2026-12-03T09:59:59Z", "2026-12-03T10:00:00Z"),
        ("Pacific/Niue", "2026-12-01", "2026-12-04T10:59:59Z", "2026-12-04T11:00:00Z"),
        ("Asia/Kathmandu", "2026-12-01", "2026-12-03T18:14:59Z", "2026-12-03T18:15:00Z"),
        # A 23-hour day: 27 to 30 March is three calendar days in 71.5 hours.
        ("Europe/Berlin", "2026-03-27", "2026-03-29T21:59:59Z", "2026-03-29T22:00:00Z"),
        ("Europe/Berlin", "2026-03-26", "2026-03-28T22:59:59Z", "2026-03-28T23:00:00Z"),
        # A 25-hour day: three days take 73 hours.
        ("Europe/Berlin", "2026-10-23", "2026-10-25T22:59:59Z", "2026-10-25T23:00:00Z"),
        ("America/New_York", "2026-03-06", "2026-03-09T03:59:59Z", "2026-03-09T04:00:00Z"),
        ("America/New_York", "2026-10-30", "2026-11-02T04:59:59Z", "2026-11-02T05:00:00Z"),
        ("Australia/Lord_Howe", "2026-04-03", "2026-04-05T13:29:59Z", "2026-04-05T13:30:00Z"),
        # The clocks skip midnight: the day begins at 01:00.
        ("America/Santiago", "2026-09-03", "2026-09-06T03:59:59Z", "2026-09-06T04:00:00Z"),
        # Midnight comes twice: the day begins with the first one.
        ("America/Havana", "2026-10-29", "2026-11-01T03:59:59Z", "2026-11-01T04:00:00Z"),
    ],
)
def test_days_are_those_of_the_billing_zone(zone: str, due: str, before: str, reached: str) -> None:
    history = InvoiceHistory(POLICY, at("2026-03-01")).observed(due=due, zone=zone)
    assert judge(history, before, "day-3") == ("not_reached", at(reached))
    assert judge(history, reached, "day-3") == ("day-3", ())
    assert reached_at(history.invoice, POLICY.stages[0], POLICY) == at(reached)


def test_without_a_zone_of_its_own_the_policy_names_it() -> None:
    tokyo = Policy(time_zone="Asia/Tokyo")
    history = due_on_the_first(tokyo)
    assert judge(history, "2026-12-03T14:59:59Z", "day-3") == (
        "not_reached",
        at("2026-12-03T15:00Z"),
    )
    assert judge(history, "2026-12-03T15:00Z", "day-3") == ("day-3", ())
    assert local_midnight(history.invoice, date(2026, 12, 4), tokyo) == datetime(
        2026, 12, 3, 15, tzinfo=UTC
    )


def test_a_day_that_a_zone_never_had_begins_with_the_next() -> None:
    apia = InvoiceHistory(POLICY).observed(zone="Pacific/Apia").invoice
    skipped = local_midnight(apia, date(2011, 12, 30), POLICY)
    assert skipped == local_midnight(apia, date(2011, 12, 31), POLICY) == at("2011-12-30T10:00Z")


@pytest.mark.parametrize(
    ("owes", "when", "stage", "says"),
    [
        (1, "2026-12-04", "day-3", "day-3"),
        (3000, "2026-12-08", "day-7", "day-7"),
        (2999, "2026-12-08", "day-7", "balance_below_stage"),
        (2999, "2026-12-08", None, "day-3"),
        (7500, "2026-12-15", "day-14", "day-14"),
        (7499, "2026-12-15", "day-14", "balance_below_stage"),
        (7499, "2026-12-15", None, "day-7"),
        (3000, "2026-12-15", "day-14", "balance_below_stage"),
        (2999, "2026-12-15", None, "day-3"),
    ],
)
def test_a_stage_needs_its_share_of_the_total(owes: int, when: str, stage: str, says: str) -> None:
    assert judge(due_on_the_first(owes=owes), when, stage)[0] == says


def test_no_due_date_is_never_due() -> None:
    history = InvoiceHistory(POLICY).observed(due=None, issued="2026-01-01")
    assert judge(history, "2026-12-31") == ("no_due_date", None)
    assert judge(history, "2026-12-31", "day-3") == ("no_due_date", None)


def test_age_counts_from_issue_where_the_policy_says_so() -> None:
    policy = Policy(age_from_issue_without_due_date=True)
    history = InvoiceHistory(policy).observed(due=None, issued="2026-12-05")
    assert judge(history, "2026-12-07") == ("not_reached", at("2026-12-08"))
    assert judge(history, "2026-12-08") == ("day-3", ())
    assert judge(InvoiceHistory(policy).observed(due=None), "2026-12-31") == ("no_due_date", None)


def test_age_counts_from_the_issue_where_it_is_later_than_the_due_date() -> None:
    history = InvoiceHistory(POLICY).observed(due="2026-12-01", issued="2026-12-10")
    assert judge(history, "2026-12-12") == ("not_reached", at("2026-12-13"))
    assert judge(history, "2026-12-13") == ("day-3", ())


@pytest.mark.parametrize(
    ("sent_on", "when", "says"),
    [
        ("2026-12-04T00:00Z", "2026-12-08T00:00Z", ("day-7", ())),
        ("2026-12-06T23:59Z", "2026-12-08T12:00Z", ("not_reached", at("2026-12-09T00:00Z"))),
        ("2026-12-06T23:59Z", "2026-12-08T23:59:59Z", ("not_reached", at("2026-12-09T00:00Z"))),
        ("2026-12-06T23:59Z", "2026-12-09T00:00Z", ("day-7", ())),
        ("2026-12-07T08:00Z", "2026-12-10T00:00Z", ("day-7", ())),
    ],
)
def test_three_days_lie_between_reminders(sent_on: str, when: str, says: Any) -> None:
    history = due_on_the_first().at(sent_on).reminded("day-3")
    assert judge(history, when, "day-7") == says
    assert judge(history, when) == says


def test_the_days_between_reminders_are_policy_and_span_cycles() -> None:
    policy = Policy(days_between_reminders=10)
    history = due_on_the_first(policy).at("2026-12-04T08:00Z").reminded("day-3")
    assert judge(history, "2026-12-08") == ("not_reached", at("2026-12-14"))
    history.at("2026-12-05").money("succeeded", 30000).at("2026-12-06").money("reversed", 30000)
    assert history.invoice.standing.cycle == 2
    assert judge(history, "2026-12-09") == ("not_reached", at("2026-12-14"))
    assert judge(history, "2026-12-14") == ("day-7", ("day-3",))


def test_a_superseded_stage_is_no_reminder_to_wait_after() -> None:
    observed = due_on_the_first(Policy(days_between_reminders=5)).at("2026-12-08T08:00Z")
    observed.reminded("day-7", "day-3")
    assert judge(observed, "2026-12-15") == ("day-14", ())


def test_a_stage_below_one_on_record_is_used_up() -> None:
    history = due_on_the_first().at("2026-12-08").reminded("day-7")
    assert judge(history, "2026-12-14", "day-3") == ("stage_superseded", None)
    assert judge(history, "2026-12-14") == ("stage_superseded", None)


def test_catching_up_one_step_at_a_time() -> None:
    history = due_on_the_first(NEXT)
    assert judge(history, "2026-12-20") == ("day-3", ())
    assert judge(history, "2026-12-20", "day-14") == ("stage_superseded", None)
    history.at("2026-12-20").reminded("day-3")
    assert judge(history, "2026-12-22") == ("not_reached", at("2026-12-23"))
    assert judge(history, "2026-12-23") == ("day-7", ())
    history.at("2026-12-23").reminded("day-7")
    assert judge(history, "2026-12-26") == ("day-14", ())


def test_stages_crossed_before_the_cut_over_count_as_superseded() -> None:
    policy = Policy(adopt_before=date(2026, 12, 8))
    history = due_on_the_first(policy)
    assert judge(history, "2026-12-07", "day-3") == ("stage_superseded", None)
    assert judge(history, "2026-12-08") == ("day-7", ("day-3",))
    later = Policy(adopt_before=date(2026, 12, 9))
    adopted = due_on_the_first(later)
    assert judge(adopted, "2026-12-14") == ("stage_superseded", None)
    assert judge(adopted, "2026-12-15") == ("day-14", ("day-3", "day-7"))
    record = record_of(adopted.invoice, later.stages[1], later)
    assert record is not None
    assert (record.state, record.stage, record.cycle) == ("superseded", "day-7", 1)


def test_a_ladder_of_ones_own() -> None:
    policy = Policy(stages=(Stage("soft", 1), Stage("hard", 30, 100)), days_between_reminders=0)
    history = due_on_the_first(policy)
    assert judge(history, "2026-12-02") == ("soft", ())
    assert judge(history.at("2026-12-02").reminded("soft"), "2026-12-31") == ("hard", ())


def test_far_away_dates_are_judged_too() -> None:
    last = InvoiceHistory(POLICY).observed(due="9999-12-31")
    assert judge(last, "2026-12-04") == ("not_past_due", None)
    first = InvoiceHistory(POLICY).observed(due="0001-01-01", zone="Pacific/Kiritimati")
    assert judge(first, "2026-12-04") == ("day-14", ("day-3", "day-7"))


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, None),
        ({"status": Status.VOID}, "voided"),
        ({"status": Status.VOID, "owes": 0}, "voided"),
        ({"status": Status.UNCOLLECTIBLE}, "nothing_owed"),
        ({"status": Status.PAID}, "nothing_owed"),
        ({"owes": 0}, "nothing_owed"),
        ({"status": Status.DRAFT}, "not_past_due"),
    ],
)
def test_what_the_money_forbids(fields: dict[str, Any], code: str | None) -> None:
    found = money_obstacle(due_on_the_first(**fields).invoice, POLICY)
    assert (found.code if found else None) == code


@pytest.mark.parametrize(
    ("currency", "owes", "code"),
    [
        ("USD", 500, None),
        ("USD", 499, "nothing_owed"),
        ("JPY", 300, None),
        ("JPY", 99, "nothing_owed"),
        ("EUR", 1, None),
        ("KWD", 1, None),
    ],
)
def test_the_smallest_amount_to_dun_is_held_per_currency(
    currency: str, owes: int, code: str | None
) -> None:
    policy = Policy(smallest_amount_to_dun={"USD": 500, "JPY": 100})
    found = money_obstacle(due_on_the_first(policy, currency=currency, owes=owes).invoice, policy)
    assert (found.code if found else None) == code


def test_two_stages_on_record_at_ten_days_however_it_got_there() -> None:
    daily = due_on_the_first()
    for day in range(1, 11):
        when = f"2026-12-{day + 1:02d}T08:00Z"
        found = stage_obstacle(daily.invoice, None, at(when), POLICY)
        if isinstance(found, Due):
            daily.at(when).reminded(found.stage.name, *found.supersedes)
    at_once = due_on_the_first().at("2026-12-11T08:00Z")
    due = stage_obstacle(at_once.invoice, None, at_once.now, POLICY)
    assert isinstance(due, Due)
    at_once.reminded(due.stage.name, *due.supersedes)
    states = {name: r.state for (_, name), r in daily.invoice.stages.items()}
    assert states == {"day-3": "sent", "day-7": "sent"}
    states = {name: r.state for (_, name), r in at_once.invoice.stages.items()}
    assert states == {"day-3": "superseded", "day-7": "sent"}
    assert due_stage(daily.invoice, 13, POLICY) is None
