"""Resend: pages of its list of mails, its CSV, and archived webhooks."""

from dataclasses import replace
from typing import Any

from api.imports.fields import Fields
from api.imports.profiles.profile import Fate, Told
from api.imports.profiles.table import Table, words
from api.imports.rows import RawRow


def _unwrap(record: dict[str, Any]) -> dict[str, Any]:
    """The mail in an event, which says less of it than the event's type does."""
    inner = record.get("data")
    if isinstance(inner, dict) and str(record.get("type")).startswith("email."):
        return inner | {"event": str(record["type"]).removeprefix("email.")}
    return record


def _is_of_no_mail(record: dict[str, Any]) -> bool:
    """Is it an event of a contact, a domain or a suppression?"""
    kind = record.get("type")
    is_event = isinstance(kind, str) and "." in kind and isinstance(record.get("data"), dict)
    return is_event and not str(kind).startswith("email.")


class Resend(Table):
    """A mail of the list may be scheduled: it went out then, not when it was made."""

    __slots__ = ()

    def told(self, row: RawRow) -> Told:
        """What a mail or event tells. Later events of a mail in the list say that it was sent."""
        if _is_of_no_mail(row.columns):
            return Told(Fate.OTHER)
        record = Fields(self.unwrap(row.columns))
        fate = self.fate_of(record)
        event = record.text(("event",))
        if event is not None and event not in ("sent", "delivered") and fate is Fate.SENT:
            fate = Fate.OTHER
        told = self.told_by(record, fate)
        lists = [record.get(name) for name in ("to", "cc", "bcc")]
        return replace(told, recipients=[part for part in lists if part is not None])


RESEND = Resend(
    name="resend",
    marks=(
        ("id", "to", "created_at", "last_event"),
        ("email_id", "to", "created_at", "event"),
    ),
    at=("sent_at", "scheduled_at", "created_at"),
    recipients=("to",),
    id=("email_id", "id"),
    message_id=("message_id",),
    status=("event", "last_event", "status"),
    fates=words(
        sent="sent delivered delivery_delayed opened clicked complained",
        failed="bounced failed suppressed canceled cancelled",
        other="queued scheduled received",
    ),
    unwrap=_unwrap,
)
