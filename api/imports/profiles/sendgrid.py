"""SendGrid: the Email Activity CSV, its API's list and details, and archived event webhooks."""

from typing import Any

from api.imports.fields import Fields
from api.imports.profiles.profile import Fate
from api.imports.profiles.table import Table, words

_FATES = words(
    sent="processed delivered processing",
    failed="bounce bounced dropped drop blocked block not_delivered invalid cancel_drop",
    other="""deferred open opened click clicked spamreport spam_report unsubscribe
        group_unsubscribe group_resubscribe resubscribe account_status_change received""",
)


def _unwrap(record: dict[str, Any]) -> dict[str, Any]:
    """A mail of the API with its events: the time is that of the first that says it was sent."""
    events = record.get("events")
    if not isinstance(events, list):
        return record
    for event in events:
        fields = Fields(event if isinstance(event, dict) else {})
        word = fields.text(("event_name", "event")) or ""
        if _FATES.get(word) is Fate.SENT:
            return record | {"processed": fields.text(("processed", "timestamp"))}
    return record


SENDGRID = Table(
    name="sendgrid",
    marks=(
        ("processed", "recv_message_id", "event"),
        ("msg_id", "to_email", "last_event_time"),
        ("msg_id", "to_email", "events"),
        ("sg_message_id", "event", "timestamp"),
        ("sg_event_id", "event", "timestamp"),
    ),
    at=("processed", "timestamp", "last_event_time"),
    recipients=("email", "to_email", "to"),
    id=("recv_message_id", "sg_message_id", "msg_id", "message_id", "x_message_id"),
    message_id=("smtp-id",),
    status=("event", "status"),
    fates=_FATES,
    unwrap=_unwrap,
)
