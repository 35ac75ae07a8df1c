"""The read model `invoices`: the state of each invoice, and the time it becomes newly due (D7)."""

from typing import Any

from ledger.domain.policy import Policy
from projections.read_model import ReadModel


def stage_settings(policy: Policy) -> dict[str, Any]:
    """The part of the policy that decides when an invoice is newly due."""
    return {
        "time_zone": policy.time_zone,
        "stage_names": [stage.name for stage in policy.stages],
        "stage_days": [stage.days for stage in policy.stages],
        "stage_floors": [stage.floor_percent for stage in policy.stages],
        "gap_days": policy.days_between_reminders,
        "catch_up": policy.catch_up,
        "adopt_before": policy.adopt_before,
        "rejections_before_hold": policy.rejections_before_hold,
        "smallest_amounts": dict(policy.smallest_amount_to_dun),
        "snapshot_max_age": policy.snapshot_max_age,
        "remind_after_subscription_end": policy.remind_after_subscription_end,
    }


INVOICES = ReadModel(
    name="invoices",
    version=4,
    tables=("invoices", "merged", "policy", "silent_feeds"),
    steps=("merges", "parted", "owners", "feeds", "fold", "probes"),
    settings=stage_settings,
)
