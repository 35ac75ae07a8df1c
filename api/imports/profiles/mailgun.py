"""Mailgun: pages and lines of its events API and of its logs API, and archived webhooks."""

from typing import Any

from api.imports.fields import Fields
from api.imports.profiles.profile import Fate, Told
from api.imports.profiles.table import Table, words
from api.imports.rows import RawRow


def _unwrap(record: dict[str, Any]) -> dict[str, Any]:
    inner = record.get("event-data")
    return inner if isinstance(inner, dict) else record


class Mailgun(Table):
    """`accepted` is told of mail from outside too: that is routed or stored, and not sent by us."""

    __slots__ = ()

    def told(self, row: RawRow) -> Told:
        """What an event tells; each has one recipient."""
        record = Fields(self.unwrap(row.columns))
        fate = self.fate_of(record)
        if fate is Fate.FAILED and record.text(("severity",)) == "temporary":
            fate = Fate.OTHER
        flags = (record.get("flags.is-routed"), record.get("flags.is-test-mode"))
        if any(str(flag).lower() == "true" for flag in flags):
            fate = Fate.OTHER
        return self.told_by(record, fate)


MAILGUN = Mailgun(
    name="mailgun",
    marks=(
        ("event", "timestamp", "message.headers.message-id"),
        ("event", "@timestamp", "message.headers.message-id"),
    ),
    at=("timestamp", "@timestamp", "date", "time"),
    recipients=("recipient", "recipients", "message.headers.to", "to"),
    id=("message.headers.message-id", "message-id"),
    message_id=("message.headers.message-id", "message-id"),
    status=("event", "event type", "status"),
    fates=words(
        sent="accepted delivered",
        failed="failed rejected",
        other="""opened clicked unsubscribed complained stored email_validation
            list_member_uploaded list_member_upload_error list_uploaded""",
    ),
    unwrap=_unwrap,
)
