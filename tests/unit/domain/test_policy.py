"""The policy: what it takes, what it refuses and why, and its version."""

import json
from datetime import date, datetime
from typing import Any

import pytest

from ledger.domain.policy import DEFAULT_STAGES, Policy, PolicyError, Stage, parse_policy


def test_what_is_left_out_keeps_its_default() -> None:
    policy = parse_policy({})
    assert policy == Policy()
    assert policy.stages == (Stage("day-3", 3), Stage("day-7", 7, 10), Stage("day-14", 14, 25))
    assert (policy.days_between_reminders, policy.catch_up, policy.adopt_before) == (
        3,
        "highest",
        None,
    )
    assert (policy.outreach_per_day, policy.transactional_per_day) == (2, 20)
    assert (policy.replies_per_thread_hour, policy.replies_per_customer_hour) == (5, 5)
    assert (policy.replies_per_customer_day, policy.permit_minutes) == (30, 10)
    assert (policy.payment_in_flight_days, policy.apology_days) == (7, 30)
    assert policy.age_from_issue_without_due_date is False


def test_every_setting_is_taken() -> None:
    policy = parse_policy(
        {
            "time_zone": "Europe/Berlin",
            "stages": [
                {"name": "first", "days": 1},
                {"name": "last", "days": 30, "floor_percent": 50},
            ],
            "catch_up": "next",
            "adopt_before": date(2026, 1, 1),
            "smallest_amount_to_dun": {"USD": 500, "JPY": 100},
            "age_from_issue_without_due_date": True,
            "outreach_per_day": 3,
            "message_id_domain": "mail.example",
        }
    )
    assert policy.stages == (Stage("first", 1, 0), Stage("last", 30, 50))
    assert policy.stage("last") == Stage("last", 30, 50)
    assert policy.stage("day-3") is None
    assert policy.below(policy.stages[1]) == (Stage("first", 1, 0),)
    assert policy.smallest_amount_to_dun == {"USD": 500, "JPY": 100}
    assert (policy.catch_up, policy.adopt_before) == ("next", date(2026, 1, 1))


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({"outreach": 2}, "policy.outreach is not a setting"),
        ({"outreach_per_day": 0}, "policy.outreach_per_day must be a whole number from 1"),
        ({"outreach_per_day": 101}, "from 1 to 100"),
        ({"outreach_per_day": True}, "policy.outreach_per_day must be a whole number"),
        ({"outreach_per_day": 2.0}, "policy.outreach_per_day must be a whole number"),
        ({"permit_minutes": "10"}, "policy.permit_minutes must be a whole number"),
        ({"catch_up": "all"}, "policy.catch_up must be one of highest, next"),
        ({"age_from_issue_without_due_date": 1}, "must be true or false"),
        ({"time_zone": "Berlin"}, "'Berlin' is not an IANA time zone"),
        ({"time_zone": ""}, "a time zone is an IANA name"),
        ({"time_zone": "../etc/passwd"}, "is not an IANA time zone"),
        ({"time_zone": None}, "a time zone is an IANA name"),
        ({"adopt_before": "2026-01-01"}, "policy.adopt_before must be a date"),
        ({"adopt_before": datetime(2026, 1, 1)}, "policy.adopt_before must be a date"),
        ({"smallest_amount_to_dun": {"usd": 5}}, "'usd' is not an ISO 4217 currency"),
        ({"smallest_amount_to_dun": {"USD": -1}}, "smallest_amount_to_dun.USD must be"),
        ({"smallest_amount_to_dun": 5}, "is a table of currency"),
        ({"message_id_domain": "a@b"}, "must be a domain name"),
        ({"message_id_domain": ""}, "must be a domain name"),
        ({"stages": []}, "a list of 1 to 50 stages"),
        ({"stages": "day-3"}, "a list of 1 to 50 stages"),
        ({"stages": [{"name": "a"}]}, "a stage has a name, days"),
        ({"stages": [{"name": "a", "days": 1, "extra": 1}]}, "a stage has a name, days"),
        ({"stages": [{"name": "", "days": 1}]}, "1 to 64 characters"),
        ({"stages": [{"name": "a", "days": 0}]}, "days of stage a must be"),
        ({"stages": [{"name": "a", "days": 1, "floor_percent": 101}]}, "floor_percent of stage a"),
        ({"stages": [{"name": "a", "days": 1}, {"name": "a", "days": 2}]}, "the same name"),
        (
            {"stages": [{"name": "a", "days": 2}, {"name": "b", "days": 2}]},
            "in order of their days",
        ),
        (
            {"stages": [{"name": "a", "days": 3}, {"name": "b", "days": 2}]},
            "in order of their days",
        ),
    ],
)
def test_a_setting_that_is_not_valid_is_refused_by_name(raw: dict[str, Any], says: str) -> None:
    with pytest.raises(PolicyError) as refused:
        parse_policy(raw)
    assert says in str(refused.value)


def test_the_version_changes_with_every_setting_and_with_nothing_else() -> None:
    assert Policy().version() == Policy(stages=DEFAULT_STAGES).version()
    others = {
        parse_policy(raw).version()
        for raw in (
            {},
            {"outreach_per_day": 3},
            {"adopt_before": date(2026, 1, 1)},
            {"stages": [{"name": "day-3", "days": 3}]},
            {"smallest_amount_to_dun": {"USD": 1}},
            {"time_zone": "Europe/Berlin"},
        )
    }
    assert len(others) == 6
    assert all(len(version) == 16 for version in others)


def test_its_text_is_the_same_however_its_tables_are_ordered() -> None:
    one = parse_policy({"smallest_amount_to_dun": {"USD": 1, "EUR": 2}})
    other = parse_policy({"smallest_amount_to_dun": {"EUR": 2, "USD": 1}})
    assert one.text() == other.text()
    assert json.loads(one.text())["stages"][1] == {"name": "day-7", "days": 7, "floor_percent": 10}
