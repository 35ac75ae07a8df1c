"""Customer.io: pages of its messages, its exports of deliveries, and its reporting webhooks."""

from dataclasses import replace
from typing import Any

from api.imports.fields import Fields
from api.imports.profiles.profile import Fate, Told
from api.imports.profiles.table import Table, words
from api.imports.rows import RawRow

_SENT = ("sent", "delivered")
_FAILED = ("bounced", "failed", "dropped", "undeliverable", "suppressed")
_NOTHING = ("0", "false", "no", "null", "none")


def _unwrap(record: dict[str, Any]) -> dict[str, Any]:
    """A delivery with its metrics at the top, or a reporting event with its delivery."""
    metrics, data = record.get("metrics"), record.get("data")
    if isinstance(metrics, dict):
        return record | {name: value for name, value in metrics.items() if name != "created"}
    if isinstance(data, dict) and "metric" in record:
        return data | {name: value for name, value in record.items() if name != "data"}
    return record


class CustomerIo(Table):
    """What became of a delivery is told by which of its metrics have a time."""

    __slots__ = ()

    def told(self, row: RawRow) -> Told:
        """What a delivery tells; those by push or SMS are no mail."""
        record = Fields(self.unwrap(row.columns))
        channel = record.text(("type", "object_type", "message_type", "channel"))
        if channel is not None and "email" not in channel.lower():
            return Told(Fate.OTHER)
        if "metric" in record:
            return self.told_by(record, self.fate_of(record))
        sent = next((time for name in _SENT if (time := _time(record, name))), None)
        if any(_time(record, name) for name in _FAILED):
            fate = Fate.FAILED
        else:
            fate = Fate.SENT if sent is not None else Fate.OTHER
        if not any(name in record for name in _SENT) and record.text(self.status):
            fate = self.fate_of(record)
        told = self.told_by(record, fate)
        at = sent if sent is not None and not _is_flag(sent) else told.at
        return replace(told, at=at)


def _time(record: Fields, name: str) -> str | None:
    """When that happened to a delivery; None where it did not."""
    found = record.text((name, f"{name}_at", f"{name} at"))
    return None if found is None or found.lower() in _NOTHING else found


def _is_flag(text: str) -> bool:
    return text.lower() in ("1", "true", "yes")


CUSTOMERIO = CustomerIo(
    name="customerio",
    marks=(
        ("id", "recipient", "metrics.created"),
        ("deduplicate_id", "recipient", "metrics"),
        ("metric", "event_id", "timestamp", "recipient"),
        ("delivery_id", "recipient", "sent"),
        ("delivery_id", "email", "sent"),
        ("delivery_id", "recipient", "delivered"),
    ),
    at=("timestamp", "sent_at", "created", "created_at"),
    recipients=("recipient", "to", "email", "customer_identifiers.email", "identifiers.email"),
    id=("delivery_id", "id", "message_id"),
    status=("metric", "state", "status"),
    fates=words(
        sent="sent delivered",
        failed="bounced failed dropped undeliverable suppressed",
        other="""drafted attempted opened human_opened clicked human_clicked converted unsubscribed
            spammed deferred subscribed cio_subscription_preferences_changed created""",
    ),
    unwrap=_unwrap,
)
