"""Each profile on a sample of what its provider really exports, and on variations of it."""

import bz2
import gzip
import io
import json
import mailbox
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from api.imports.dates import Dates
from api.imports.log_file import LogFile
from api.imports.profiles.registry import profile_names
from api.imports.rows import BadLog
from api.imports.sends_log import Columns, Reading
from tests.support.import_samples import IN_UTC, SAMPLES, guess, told

NIGHT = "2026-12-31T23:30:00"
SES_ID = "0100019b7f0a1b2c-11111111-0000-4000-8000-000000000001-000000"
POSTMARK_ID = "00000000-0000-4000-8000-000000001020"
SG = ("aaaaRRvF7Q0GgwUo2CvDmE", "bbbbRRvF7Q0GgwUo2CvDmE", "ccccRRvF7Q0GgwUo2CvDmE")
EXPECTED = {
    "sendgrid_activity.csv": (
        "sendgrid",
        [
            f"2 customer@example.com {NIGHT} {SG[0]}",
            f"3 customer@example.com 2026-12-31T23:30:01 {SG[0]}",
            f"4 customer@example.com {NIGHT} {SG[1]}",
            f"5 customer@example.com 2026-12-31T23:30:01 {SG[1]}",
        ],
    ),
    "sendgrid_messages.page.json": (
        "sendgrid",
        [f"1 customer@example.com {NIGHT} {SG[2]}", "2 failed"],
    ),
    "mailgun_events.jsonl": (
        "mailgun",
        [
            f"1 customer@example.com {NIGHT} <20261231.a@mg.example.org>",
            "2 customer@example.com 2026-12-31T23:30:01 <20261231.b@mg.example.org>",
        ],
    ),
    "mailgun_events.page.json": (
        "mailgun",
        [
            "1 customer@example.com 2026-12-31T23:30:02 <20261231.a@mg.example.org>",
            "2 customer@example.com 2026-12-31T23:30:01 <20261231.a@mg.example.org>",
            "3 failed",
            "4 gone@example.com 2026-12-31T23:30:01 <20261231.c@mg.example.org>",
            "5 other",
            "6 other",
        ],
    ),
    "postmark_messages.jsonl": (
        "postmark",
        [f"1 customer@example.com 2026-12-31T19:25:01 {POSTMARK_ID}"],
    ),
    "postmark_messages.page.json": (
        "postmark",
        [f"1 customer@example.com 2026-12-31T19:25:01 {POSTMARK_ID}"],
    ),
    "postmark_activity.csv": (
        "postmark",
        [f"2 customer@example.com 2026-12-31T19:25:01 {POSTMARK_ID}", "3 other", "4 failed"],
    ),
    "ses_firehose.jsonl": (
        "ses",
        [
            f"1 customer@example.com {NIGHT} {SES_ID}",
            f"1 accountant@example.net {NIGHT} {SES_ID}",
            f"2 customer@example.com {NIGHT} {SES_ID}",
            "3 failed",
            "4 other",
        ],
    ),
    "ses_sns.jsonl": (
        "ses",
        [
            f"1 customer@example.com {NIGHT} {SES_ID}",
            f"1 accountant@example.net {NIGHT} {SES_ID}",
        ],
    ),
    "resend_list.page.json": (
        "resend",
        ["1 customer@example.com 2026-12-31T20:13:42 example-1022"],
    ),
    "resend_export.csv": (
        "resend",
        ["2 customer@example.com 2026-12-31T20:13:42 example-1022", "3 failed", "4 other"],
    ),
    "customerio_messages.page.json": (
        "customerio",
        [f"1 customer@example.com {NIGHT} dgOq6QUq", "2 failed", "3 other", "4 other"],
    ),
    "customerio_deliveries.csv": (
        "customerio",
        [f"2 customer@example.com {NIGHT} dgOq6QUq", "3 failed"],
    ),
    "stripe_events.page.json": ("stripe", [f"1 cus_7 {NIGHT} evt_example1", "2 other"]),
    "sent.mbox": (
        "mbox",
        [
            "1 customer@example.com 2026-12-31T22:30:00 <own.1@example.org>",
            "1 accountant@example.net 2026-12-31T22:30:00 <own.1@example.org>",
            "1 joerg@example.com 2026-12-31T22:30:00 <own.1@example.org>",
            "15: it names no customer",
        ],
    ),
    "postfix_rfc3164.log": (
        "postfix",
        [
            f"4 customer@example.com {NIGHT} <own.1@example.org>",
            "5 failed",
            "10 other",
            "11 other",
            "14 customer@example.com 2027-01-01T00:00:02 <own.2@example.org>",
        ],
    ),
    "postfix_rfc5424.log": (
        "postfix",
        [
            f"2 customer@example.com {NIGHT} <own.1@example.org>",
            "4 customer@example.com 2026-12-31T23:30:02 <own.2@example.org>",
        ],
    ),
    "exim_mainlog": (
        "exim",
        [
            f"2 customer@example.com {NIGHT} <own.1@example.org>",
            f"3 second@example.com {NIGHT} <own.1@example.org>",
            "4 failed",
            "7 other",
            "8 other",
            "9 other",
        ],
    ),
}


def sample(name: str) -> bytes:
    """The bytes of a sample."""
    return (SAMPLES / name).read_bytes()


@pytest.mark.parametrize("name", EXPECTED)
def test_each_sample_is_guessed_and_read(name: str) -> None:
    profile, rows = EXPECTED[name]
    assert guess(sample(name)) == profile
    assert told(sample(name)) == rows


def test_every_sample_is_held_and_every_profile_has_one() -> None:
    there = {path.name for path in SAMPLES.iterdir()} - {"README.md", "us_dates.csv"}
    assert there == set(EXPECTED)
    assert {profile for profile, _ in EXPECTED.values()} | {"csv"} == set(profile_names())


@pytest.mark.parametrize("name", [name for name in EXPECTED if not name.endswith(".mbox")])
def test_packing_and_encoding_change_nothing(name: str) -> None:
    raw, rows = sample(name), EXPECTED[name][1]
    text = raw.decode()
    for other in (
        gzip.compress(raw),
        b"\xef\xbb\xbf" + raw,
        text.encode("utf-16"),
        b"\xfe\xff" + text.encode("utf-16-be"),
        text.encode("utf-16-le"),
        gzip.compress(text.encode("utf-16")),
    ):
        assert told(other) == rows


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_columns_in_any_order_and_names_in_any_case(mark: str) -> None:
    lines = [line.split(",") for line in sample("sendgrid_activity.csv").decode().splitlines()]
    turned = "\r\n".join(mark.join(reversed(line)) for line in lines).upper()
    rows = [row.replace(SG[0], SG[0].upper()) for row in EXPECTED["sendgrid_activity.csv"][1]]
    rows = [row.replace(SG[1], SG[1].upper()) for row in rows]
    found = [
        row.replace("CUSTOMER@EXAMPLE.COM", "customer@example.com") for row in told(turned.encode())
    ]
    assert found == rows


@pytest.mark.parametrize("name", [name for name in EXPECTED if ".page." in name])
def test_a_page_a_list_and_lines_say_the_same(name: str) -> None:
    page = json.loads(sample(name))
    (records,) = (value for value in page.values() if isinstance(value, list))
    rows = EXPECTED[name][1]
    assert told(json.dumps(records).encode()) == rows
    assert told(json.dumps(page, indent=2).encode()) == rows
    assert told("\n".join(json.dumps(record) for record in records).encode() + b"\n") == rows
    two = told(sample(name).strip() + b"\n" + json.dumps(page).encode())
    assert [row.split(" ", 1)[-1] for row in two] == [row.split(" ", 1)[-1] for row in rows * 2]


def test_a_log_without_years_is_not_settled_before_one_is_named() -> None:
    reading = Reading(Columns(), "tests", Dates(ZoneInfo("UTC")))
    rows = told(sample("postfix_rfc3164.log"), reading=reading)
    assert rows[0] == "4: at: the line has no year; name that of the first line with --year"
    assert rows[1:4] == EXPECTED["postfix_rfc3164.log"][1][1:4]


def test_local_times_of_mail_servers_need_a_zone() -> None:
    reading = Reading(Columns(), "tests", Dates(None, (), 2026))
    for name in ("postfix_rfc3164.log", "exim_mainlog"):
        assert "name its zone with --time-zone" in told(sample(name), reading=reading)[0]
    exact = "postfix_rfc5424.log"
    assert told(sample(exact), reading=reading) == EXPECTED[exact][1]


def test_a_mail_passed_on_within_the_house_is_one_mail() -> None:
    line = "Dec 31 23:30:00 mail postfix/{}[1]: {}: {}\n"
    sent = "to=<a@example.com>, relay={}, delay=1, dsn=2.0.0, status=sent (250 ok)"
    raw = "".join(
        line.format(*parts)
        for parts in (
            ("cleanup", "AAAAAAAAAA", "message-id=<m1@example.org>"),
            ("smtp", "AAAAAAAAAA", sent.format("127.0.0.1[127.0.0.1]:10024")),
            ("cleanup", "BBBBBBBBBB", "message-id=<m1@example.org>"),
            ("smtp", "BBBBBBBBBB", sent.format("mx.example.com[192.0.2.1]:25")),
        )
    )
    assert {row.split(" ", 1)[1] for row in told(raw.encode())} == {
        f"a@example.com {NIGHT} <m1@example.org>"
    }


def test_the_memory_of_a_mail_log_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.imports.profiles.mail_lines._MOST_OPEN", 2)
    known = "Dec 31 23:30:00 mail postfix/cleanup[1]: AAAAAAAAA{n}: message-id=<m{n}@x>"
    lines = [known.format(n=n) for n in range(4)]
    sent = "to=<a@example.com>, relay=mx, delay=1, dsn=2.0.0, status=sent (250 ok)"
    lines += [f"Dec 31 23:30:01 mail postfix/smtp[1]: AAAAAAAAA{n}: {sent}" for n in range(4)]
    assert [row.split(" ", 3)[3] for row in told("\n".join(lines).encode())] == [
        "AAAAAAAAA0 2026-12-31",
        "AAAAAAAAA1 2026-12-31",
        "<m2@x>",
        "<m3@x>",
    ]


def test_mbox_finds_the_mails_that_the_standard_library_finds(tmp_path: Path) -> None:
    path = tmp_path / "sent.mbox"
    box = mailbox.mbox(path)
    for number in range(5):
        mail = mailbox.mboxMessage()
        mail["Date"] = f"Thu, 31 Dec 2026 23:3{number}:00 +0000"
        mail["To"] = f"c{number}@example.com"
        mail["Message-ID"] = f"<m{number}@example.org>"
        mail.set_payload("Hello\n\nFrom me to you\n")
        box.add(mail)
    box.close()
    assert [row.split(" ", 1)[1] for row in told(path.read_bytes(), "mbox")] == [
        f"c{n}@example.com 2026-12-31T23:3{n}:00 <m{n}@example.org>" for n in range(5)
    ]


def test_any_csv_by_the_names_that_such_columns_have() -> None:
    raw = b'Sent At;To;Status;Message ID\n2026-12-31 23:30 UTC;"Doe, Jo" <jo@example.com>;ok;m1\n'
    raw += b"2026-12-31 23:30 UTC;a@example.com, b@example.com;sent;m2\n"
    raw += b"2026-12-31 23:30 UTC;c@example.com;bounced;m3\n"
    raw += b"2026-12-31 23:30 UTC;c@example.com;eaten;m4\n"
    assert guess(raw) is None
    assert told(raw, "csv") == [
        f"2 jo@example.com {NIGHT} m1",
        f"3 a@example.com {NIGHT} m2",
        f"3 b@example.com {NIGHT} m2",
        "4 failed",
        "5: status: it is none that is known; choose rows with --only",
    ]


@pytest.mark.parametrize("wrap", ["Sns", "body", "detail"])
def test_ses_events_in_what_queues_and_functions_wrap_around_them(wrap: str) -> None:
    event = json.loads(sample("ses_firehose.jsonl").splitlines()[1])
    inner = {"Message": json.dumps(event)} if wrap == "Sns" else event
    wrapped = {wrap: json.dumps(inner) if wrap == "body" else inner}
    assert told(json.dumps({"Records": [wrapped]}).encode(), "ses") == [
        f"1 customer@example.com {NIGHT} {SES_ID}"
    ]


def test_archived_webhooks() -> None:
    sendgrid = {
        "email": "a@example.com", "timestamp": 1798759800, "event": "delivered",
        "sg_event_id": "e1", "sg_message_id": f"{SG[0]}.filter0001.1.5.0", "smtp-id": "<x@y>",
    }  # fmt: skip
    assert told(json.dumps([sendgrid]).encode()) == [f"1 a@example.com {NIGHT} {SG[0]}"]
    mailgun = json.loads(sample("mailgun_events.jsonl").splitlines()[0])
    assert (
        told(json.dumps({"signature": {}, "event-data": mailgun}).encode())
        == (EXPECTED["mailgun_events.jsonl"][1][:1])
    )
    resend = {
        "type": "email.sent", "created_at": "2026-12-31T23:30:00Z",
        "data": {"email_id": "r1", "to": ["a@example.com"], "created_at": "2026-12-31T23:30:00Z"},
    }  # fmt: skip
    lines = [resend, resend | {"type": "email.opened"}, resend | {"type": "email.bounced"}]
    assert told("\n".join(map(json.dumps, lines)).encode()) == [
        f"1 a@example.com {NIGHT} r1",
        "2 other",
        "3 failed",
    ]


def test_what_is_too_large_or_damaged_is_refused_in_words() -> None:
    for raw, says in (
        (b"[" + b'{"id": "x"},\n' * 1_300_000 + b"]", "longer than 16 MiB"),
        (bz2.compress(b"x"), "packed with bzip2"),
        (gzip.compress(sample("exim_mainlog"))[:-20], "damaged or cut off"),
        (b'{"id": [\n1,\n', "no JSON"),
    ):
        with pytest.raises(BadLog, match=says):
            told(raw, "resend")


def test_a_log_is_read_as_often_as_needed() -> None:
    log = LogFile(io.BytesIO(gzip.compress(b"one\ntwo\n")))
    assert log.head() == log.opened().read() == b"one\ntwo\n"
    assert IN_UTC.profile is None
