"""`send-ledger sends import` of real exports without preparation, on a real ledger."""

import gzip
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.process.serving import prepare
from ledger.application.commands import ReportOutcome, RequestPermit
from ledger.application.kinds.notification import Notification
from tests.integration.imports.test_sends_import import SENDER, Ledger, numbers
from tests.support.import_samples import SAMPLES

NOW = datetime(2027, 1, 1, tzinfo=UTC)


class Later(Ledger):
    """A ledger in the first instant of 2027, after the samples' mails went out."""

    def __init__(self, conninfo: str, folder: Path) -> None:
        super().__init__(conninfo, folder)
        prepare(self.settings, conninfo, NOW)

    def granted(self, *provider_ids: str | None) -> list[str]:
        """Permits of notifications, each reported as sent under that id."""
        asked = [
            RequestPermit(
                Notification("shipped", str(n), "cus_1", None),
                SENDER,
                str(uuid.uuid4()),
                b"{}",
                redeem=True,
            )
            for n, _ in enumerate(provider_ids)
        ]
        permits = [answer.permit_id for answer in self.decide(*asked)]
        for permit, id in zip(permits, provider_ids, strict=True):
            if id is not None:
                self.decide(ReportOutcome(permit, "unknown", SENDER, "tests", id))
        return permits


@pytest.fixture
def ledger(empty_database: str, tmp_path: Path) -> Later:
    """A fresh ledger."""
    return Later(empty_database, tmp_path)


SENDGRID = ("aaaaRRvF7Q0GgwUo2CvDmE", "bbbbRRvF7Q0GgwUo2CvDmE")
MAILGUN = ("<20261231.a@mg.example.org>", "<20261231.b@mg.example.org>")
POSTMARK = ("00000000-0000-4000-8000-000000001020",)
RESEND = ("example-1022",)
SES = ("0100019b7f0a1b2c-11111111-0000-4000-8000-000000000001-000000",)
BY_HAND = {
    "sendgrid": ("--at", "processed", "--address", "email", "--id", "message_id"),
    "mailgun": ("--at", "timestamp", "--address", "recipient"),
    "postmark": ("--at", "ReceivedAt", "--address", "To", "--id", "MessageID"),
    "resend": ("--at", "created_at", "--address", "to", "--id", "id"),
}


@pytest.mark.parametrize(
    ("name", "ids", "options", "guess"),
    [
        ("sendgrid_activity.csv", SENDGRID, (), "sendgrid"),
        (
            "sendgrid_activity.csv",
            SENDGRID,
            (*BY_HAND["sendgrid"], "--only", "event=processed"),
            "sendgrid",
        ),
        ("mailgun_events.jsonl", MAILGUN, (), "mailgun"),
        (
            "mailgun_events.jsonl",
            MAILGUN,
            (*BY_HAND["mailgun"], "--id", "message.headers.message-id"),
            "mailgun",
        ),
        (
            "mailgun_events.jsonl",
            MAILGUN,
            (*BY_HAND["mailgun"], "--message-id", "message.headers.message-id"),
            "mailgun",
        ),
        ("postmark_messages.jsonl", POSTMARK, (), "postmark"),
        ("postmark_messages.jsonl", POSTMARK, BY_HAND["postmark"], "postmark"),
        ("postmark_messages.page.json", POSTMARK, (), "postmark"),
        ("resend_list.page.json", RESEND, (), "resend"),
        ("resend_list.page.json", RESEND, BY_HAND["resend"], "resend"),
        ("ses_firehose.jsonl", SES, (), "ses"),
    ],
)
def test_the_ledgers_own_mails_are_known_by_the_providers_id(
    ledger: Later, name: str, ids: tuple[str, ...], options: tuple[str, ...], guess: str
) -> None:
    ledger.granted(*ids)
    result = ledger.run(SAMPLES / name, *options)
    assert result.exit_code == 0, result.output
    assert f"taken for a log of {guess}" in result.stderr
    counts = numbers(result)
    assert counts["mails of the ledger's own permits"] == len(ids)
    assert "mails past the ledger" not in counts
    assert ledger.mails("cus_1") == len(ids)
    again = numbers(ledger.run(SAMPLES / name, *options))
    assert {"mails past the ledger", "mails of the ledger's own permits"}.isdisjoint(again)


@pytest.mark.parametrize("name", ["sent.mbox", "postfix_rfc5424.log", "exim_mainlog"])
def test_the_ledgers_own_mails_are_known_by_their_message_id(ledger: Later, name: str) -> None:
    (permit,) = ledger.granted(None)
    own = ledger.identity.message_id(permit).strip("<>")
    path = ledger.folder / "log.gz"
    raw = (SAMPLES / name).read_bytes().replace(b"own.1@example.org", own.encode())
    path.write_bytes(gzip.compress(raw))
    counts = numbers(ledger.run(path, "--time-zone", "UTC"))
    assert counts["mails of the ledger's own permits"] == 1
    assert ledger.mails("cus_1") == 1


def test_a_mail_that_failed_in_the_end_was_not_sent(ledger: Later) -> None:
    result = ledger.run(SAMPLES / "mailgun_events.page.json")
    assert numbers(result) == {
        "read": 6,
        "mails past the ledger": 1,
        "known already": 1,
        "not sent": 2,
        "tell of something else than a sending": 2,
    }
    assert result.exit_code == 0


DATES = ("--at", "Send Date", "--address", "Recipient", "--id", "id", "--time-zone", "UTC")


def test_nothing_is_taken_while_a_date_is_not_settled(ledger: Later) -> None:
    listed = ledger.folder / "bad"
    result = ledger.run(SAMPLES / "us_dates.csv", *DATES, "--errors", str(listed))
    assert (result.exit_code, ledger.events()) == (4, 0)
    assert "line 4: at: as an epoch the number lies outside" in result.stderr
    assert "1 rows have a time that is not certain; nothing was taken" in result.stderr
    assert listed.read_text().startswith("4\tat: ")
    settled = ledger.run(SAMPLES / "us_dates.csv", *DATES, "--date-format", "excel")
    assert (settled.exit_code, numbers(settled)) == (0, {"read": 6, "mails past the ledger": 6})


def test_a_dry_run_shows_the_first_mails_as_they_were_understood(ledger: Later) -> None:
    (permit, _) = ledger.granted(*SENDGRID)
    before = ledger.events()
    result = ledger.run(SAMPLES / "sendgrid_activity.csv", "--dry-run")
    assert (result.exit_code, ledger.events()) == (0, before)
    shown = f"2026-12-31 23:30:00 UTC to customer@example.com, {SENDGRID[0]}: the ledger's own"
    assert result.stdout.splitlines()[0] == f"line 2: {shown}"
    assert permit


def test_a_log_of_nobody_known_must_be_named(ledger: Later) -> None:
    path = ledger.folder / "log.csv"
    path.write_text("To,Sent At\nCustomer <customer@example.com>,2026-12-31T20:13:42Z\n")
    result = ledger.run(path)
    assert result.exit_code == 2
    assert "it is not certain what wrote the log: say --from" in result.stderr
    assert numbers(ledger.run(path, "--from", "csv")) == {"read": 1, "mails past the ledger": 1}


def test_standard_input_is_read_twice_as_files_are(ledger: Later) -> None:
    raw = gzip.compress((SAMPLES / "postfix_rfc3164.log").read_bytes())
    refused = ledger.run("-", "--time-zone", "UTC", stdin=raw)
    assert (refused.exit_code, ledger.events()) == (4, 0)
    assert "name that of the first line with --year" in refused.stderr
    taken = ledger.run("-", "--time-zone", "UTC", "--year", "2026", stdin=raw)
    assert numbers(taken)["mails past the ledger"] == 2


@pytest.mark.parametrize("ids", [(), ("--id", "number")])
def test_each_copy_of_a_row_counts_whatever_names_the_row(
    ledger: Later, tmp_path: Path, ids: tuple[str, ...]
) -> None:
    log = tmp_path / "copies.csv"
    log.write_text(
        'to,cc,date,time,number\n"a@example.com, b@example.com",c@example.com,2026-12-31,23:30,17\n'
    )
    options = ("--from", "csv", "--time-zone", "UTC", *ids)
    assert numbers(ledger.run(log, *options))["mails past the ledger"] == 3
    again = numbers(ledger.run(log, *options))
    assert (again["known already"], "mails past the ledger" in again) == (3, False)
