"""An instant in a text for people, such as the detail of a denial: UTC, with `Z`, as in answers."""

from datetime import UTC, datetime


def told(at: datetime) -> str:
    """The instant as `2026-12-01T12:00:00Z`."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
