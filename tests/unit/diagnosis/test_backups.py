"""What is said of the archive of PostgreSQL's log."""

from datetime import UTC, datetime

from api.diagnosis.backups import findings_of

NIGHT = datetime(2026, 12, 1, 3, 15, tzinfo=UTC)


def _told(*state: object) -> list[tuple[str, str]]:
    return [(finding.code, finding.level) for finding in findings_of(*state)]  # type: ignore[arg-type]


def test_an_archive_of_today_is_no_finding() -> None:
    assert findings_of(True, NIGHT, False, False) == []


def test_no_archive_is_a_note() -> None:
    assert _told(False, None, False, False) == [("not_archived", "note")]


def test_an_archive_that_fails_or_stands_still_waits_for_somebody() -> None:
    assert _told(True, NIGHT, True, True) == [("archiving_fails", "wrong")]
    assert _told(True, NIGHT, False, True) == [("archive_old", "wrong")]
    [finding] = findings_of(True, NIGHT, False, True)
    assert finding.what == "PostgreSQL has archived nothing since 2026-12-01 03:15 UTC"


def test_what_was_never_archived_says_so() -> None:
    [finding] = findings_of(True, None, True, False)
    assert finding.what == "PostgreSQL cannot archive its log: nothing was archived yet"
