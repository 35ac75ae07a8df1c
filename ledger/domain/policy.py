"""The policy: every limit and choice of the rules, validated, with a hash kept on each decision."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, field
from datetime import date, timedelta
from itertools import pairwise
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ledger.domain.money import CURRENCIES
from ledger.domain.value import value


class PolicyError(ValueError):
    """The policy is not valid; the message names the setting and what it must be."""


@value
class Stage:
    """A step of the dunning ladder.

    It is reached `days` calendar days past due and needs at least `floor_percent` of the
    invoice's total to be still owed.
    """

    name: str
    days: int
    floor_percent: int = 0


DEFAULT_STAGES = (Stage("day-3", 3, 0), Stage("day-7", 7, 10), Stage("day-14", 14, 25))
DEFAULT_LOCALE = "en_US"
DEFAULT_UPCOMING = (
    "invoice.upcoming",
    "invoice.will_be_due",
    "customer.subscription.trial_will_end",
    "subscription_renewal_reminder",
    "subscription_trial_end_reminder",
    "prerenewal",
)
"""Types of notices of something to come, as Stripe, Chargebee and Recurly call their events."""


@value
class Policy:
    """Limits and choices (design D7, D8). Times in the unit that the name says; UTC throughout.

    `snapshot_max_age` is in days. 0 turns it, `feed_silent_hours` and `too_late_hours` off; 1 turns
    `days_between_reminder_mails` off. With `breaker_opens` `on_flood` a full window opens the
    breaker when it refuses for the `breaker_refusals`th time within its span, not the first time.
    """

    time_zone: str = "UTC"
    stages: tuple[Stage, ...] = DEFAULT_STAGES
    days_between_reminders: int = 3
    catch_up: Literal["highest", "next"] = "highest"
    adopt_before: date | None = None
    age_from_issue_without_due_date: bool = False
    smallest_amount_to_dun: Mapping[str, int] = field(default_factory=dict)
    payment_in_flight_days: int = 7
    permit_minutes: int = 10
    outreach_per_day: int = 2
    replies_per_thread_hour: int = 5
    replies_per_customer_hour: int = 5
    replies_per_customer_day: int = 30
    transactional_per_day: int = 20
    apology_days: int = 30
    rejections_before_hold: int = 3
    breaker_opens: Literal["at_once", "on_flood"] = "at_once"
    breaker_refusals: int = 3
    days_between_reminder_mails: int = 1
    snapshot_max_age: int = 0
    feed_silent_hours: int = 168
    too_late_hours: int = 0
    unknown_alert_minutes: int = 60
    alert_escalation_minutes: int = 30
    alert_summary_minutes: int = 5
    idempotency_days: int = 30
    rejected_body_days: int = 30
    clock_jump_minutes: int = 5
    remind_after_subscription_end: bool = True
    upcoming_event_types: tuple[str, ...] = DEFAULT_UPCOMING
    own_lists: tuple[str, ...] = ()
    known_intents: tuple[str, ...] = ()
    deny_similar_intents: bool = False
    message_id_domain: str = "send-ledger.invalid"
    locale: str = DEFAULT_LOCALE

    @property
    def permit_life(self) -> timedelta:
        """How long a permit lives before it lapses."""
        return timedelta(minutes=self.permit_minutes)

    @property
    def clock_jump(self) -> timedelta:
        """How far the database's clock may move against a second clock before it is suspect."""
        return timedelta(minutes=self.clock_jump_minutes)

    def stage(self, name: str) -> Stage | None:
        """The stage of that name, or None."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        return None

    def below(self, stage: Stage) -> tuple[Stage, ...]:
        """The stages before this one on the ladder, lowest first."""
        return tuple([other for other in self.stages if other.days < stage.days])

    def text(self) -> str:
        """The policy as canonical JSON: what is kept beside its hash."""
        plain = asdict(self)
        plain["adopt_before"] = self.adopt_before.isoformat() if self.adopt_before else None
        return json.dumps(plain, sort_keys=True, separators=(",", ":"))

    def version(self) -> str:
        """The first 16 hex digits of the sha256 of the policy's text."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:16]


_LOCALE = re.compile(r"[a-z]{2,3}(_[A-Z][a-z]{3})?(_([A-Z]{2}|\d{3}))?")
_BOUNDS: dict[str, tuple[int, int]] = {
    "days_between_reminders": (0, 365),
    "payment_in_flight_days": (0, 60),
    "days_between_reminder_mails": (1, 31),
    "snapshot_max_age": (0, 3650),
    "feed_silent_hours": (0, 365 * 24),
    "too_late_hours": (0, 365 * 24),
    "permit_minutes": (1, 24 * 60),
    "outreach_per_day": (1, 100),
    "replies_per_thread_hour": (1, 1000),
    "replies_per_customer_hour": (1, 1000),
    "replies_per_customer_day": (1, 10000),
    "transactional_per_day": (1, 1000),
    "apology_days": (1, 3650),
    "rejections_before_hold": (1, 100),
    "breaker_refusals": (2, 100),
    "unknown_alert_minutes": (1, 7 * 24 * 60),
    "alert_escalation_minutes": (1, 7 * 24 * 60),
    "alert_summary_minutes": (1, 24 * 60),
    "idempotency_days": (1, 3650),
    "rejected_body_days": (1, 3650),
    "clock_jump_minutes": (1, 24 * 60),
}


def parse_policy(raw: Mapping[str, Any]) -> Policy:
    """A policy from the `[policy]` table of `ledger.toml`; what is left out keeps its default.

    Raises PolicyError for an unknown setting or a value out of its bounds.
    """
    known = set(Policy.__dataclass_fields__)
    for name in raw:
        if name not in known:
            raise PolicyError(f"policy.{name} is not a setting; known are {sorted(known)}")
    values: dict[str, Any] = dict(raw)
    for name, (low, high) in _BOUNDS.items():
        if name in values:
            _whole_number(f"policy.{name}", values[name], low, high)
    _choice(values, "catch_up", ("highest", "next"))
    _choice(values, "breaker_opens", ("at_once", "on_flood"))
    _flag(values, "age_from_issue_without_due_date")
    _flag(values, "remind_after_subscription_end")
    _flag(values, "deny_similar_intents")
    if "known_intents" in values:
        values["known_intents"] = _intents(values["known_intents"])
    if "upcoming_event_types" in values:
        values["upcoming_event_types"] = _event_types(values["upcoming_event_types"])
    if "stages" in values:
        values["stages"] = _stages(values["stages"])
    if "time_zone" in values:
        _time_zone(values["time_zone"])
    if "adopt_before" in values and type(values["adopt_before"]) is not date:
        raise PolicyError("policy.adopt_before must be a date, written YYYY-MM-DD without quotes")
    if "smallest_amount_to_dun" in values:
        values["smallest_amount_to_dun"] = _amounts(values["smallest_amount_to_dun"])
    if "own_lists" in values:
        values["own_lists"] = _list_ids(values["own_lists"])
    domain = values.get("message_id_domain", "x")
    if (
        not isinstance(domain, str)
        or not 0 < len(domain) <= 200
        or any(c in domain for c in " @<>")
    ):
        raise PolicyError("policy.message_id_domain must be a domain name")
    locale = values.get("locale", DEFAULT_LOCALE)
    if not isinstance(locale, str) or not _LOCALE.fullmatch(locale):
        raise PolicyError("policy.locale must be a locale such as en_US or de_DE")
    return Policy(**values)


def policy_of(text: str) -> Policy:
    """The policy of a stored text, by which a decision of long ago is explained.

    A setting that came later has its default; one that is gone since means nothing any more.
    Raises PolicyError, ValueError for a text that is none.
    """
    raw = {name: v for name, v in json.loads(text).items() if name in Policy.__dataclass_fields__}
    if raw.get("adopt_before") is not None:
        raw["adopt_before"] = date.fromisoformat(raw["adopt_before"])
    return parse_policy({name: value for name, value in raw.items() if value is not None})


def check_time_zone(name: object) -> str:
    """The name of an IANA time zone. Raises PolicyError for anything else."""
    if not isinstance(name, str) or not name or len(name) > 64:
        raise PolicyError("a time zone is an IANA name such as Europe/Berlin")
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise PolicyError(f"{name!r} is not an IANA time zone") from None
    return name


def _time_zone(name: object) -> None:
    try:
        check_time_zone(name)
    except PolicyError as error:
        raise PolicyError(f"policy.time_zone: {error}") from None


def _whole_number(name: str, value: object, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise PolicyError(f"{name} must be a whole number from {low} to {high}")
    return value


def _choice(values: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> None:
    if name in values and values[name] not in allowed:
        raise PolicyError(f"policy.{name} must be one of {', '.join(allowed)}")


def _flag(values: Mapping[str, Any], name: str) -> None:
    if name in values and type(values[name]) is not bool:
        raise PolicyError(f"policy.{name} must be true or false")


def _stages(raw: object) -> tuple[Stage, ...]:
    if not isinstance(raw, list) or not 0 < len(raw) <= 50:
        raise PolicyError("policy.stages must be a list of 1 to 50 stages")
    stages: list[Stage] = []
    for entry in raw:
        if not isinstance(entry, dict) or not {"name", "days"} <= set(entry) <= {
            "name",
            "days",
            "floor_percent",
        }:
            raise PolicyError(
                "policy.stages: a stage has a name, days, and optionally floor_percent"
            )
        name = entry["name"]
        if not isinstance(name, str) or not 0 < len(name) <= 64:
            raise PolicyError("policy.stages: a stage's name has 1 to 64 characters")
        days = _whole_number(f"policy.stages: days of stage {name}", entry["days"], 1, 3650)
        floor = _whole_number(
            f"policy.stages: floor_percent of stage {name}", entry.get("floor_percent", 0), 0, 100
        )
        stages.append(Stage(name, days, floor))
    if len({stage.name for stage in stages}) != len(stages):
        raise PolicyError("policy.stages: two stages have the same name")
    if any(later.days <= earlier.days for earlier, later in pairwise(stages)):
        raise PolicyError(
            "policy.stages must be in order of their days, each later than the one before"
        )
    return tuple(stages)


def _event_types(raw: object) -> tuple[str, ...]:
    if not isinstance(raw, list) or len(raw) > 100:
        raise PolicyError("policy.upcoming_event_types must be a list of at most 100 names")
    for name in raw:
        if not isinstance(name, str) or not 0 < len(name) <= 255:
            raise PolicyError("policy.upcoming_event_types: a name has 1 to 255 characters")
    return tuple(raw)


def _intents(raw: object) -> tuple[str, ...]:
    if not isinstance(raw, list | tuple) or len(raw) > 1000:
        raise PolicyError("policy.known_intents is a list of at most 1000 intents")
    if not all(isinstance(name, str) and 0 < len(name) <= 255 for name in raw):
        raise PolicyError("policy.known_intents: an intent has 1 to 255 characters")
    return tuple(raw)


def _list_ids(raw: object) -> tuple[str, ...]:
    if not isinstance(raw, list | tuple) or len(raw) > 100:
        raise PolicyError("policy.own_lists is a list of at most 100 List-Id values")
    for name in raw:
        if not isinstance(name, str) or not 0 < len(name) <= 255 or set(name) & set(" <>@"):
            raise PolicyError(
                "policy.own_lists holds what stands between < and > in the header List-Id"
            )
    return tuple(raw)


def _amounts(raw: object) -> dict[str, int]:
    if not isinstance(raw, dict):
        raise PolicyError("policy.smallest_amount_to_dun is a table of currency = minor units")
    for currency, amount in raw.items():
        if currency not in CURRENCIES:
            raise PolicyError(
                f"policy.smallest_amount_to_dun: {currency!r} is not an ISO 4217 currency"
            )
        _whole_number(f"policy.smallest_amount_to_dun.{currency}", amount, 0, 10**12)
    return dict(raw)
