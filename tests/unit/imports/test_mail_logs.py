"""Lines of mail servers in the forms that syslog, journald and containers give them."""

import json

import pytest

from api.imports.dates import Dates
from api.imports.rows import BadLog
from api.imports.sends_log import Columns, Reading
from tests.support.import_samples import guess, told

NIGHT = "2026-12-31T23:30:01"
TO = "to=<a@example.com>, relay=mx.example.com[192.0.2.1]:25, dsn=2.0.0, status=sent (250 ok)"
QUEUED = "message-id=<m1@x>"
BARE = Reading(Columns(), "tests", Dates())


@pytest.mark.parametrize(
    "form",
    [
        "Thu 2026-12-31 23:30:01 UTC mx {}[4]: {}",
        "Thu 2026-12-31 18:30:01.123456 EST mx {}[4]: {}",
        "2027-01-01T00:30:01+0100 mx {}[4]: {}",
        "2027-01-01T00:30:01.123456+01:00 INFO    {}[4]: {}",
        "2027-01-01T00:30:01.123456+01:00 WARNING {}[4]: {}",
        "postfix-1  | 2027-01-01T00:30:01.123456+01:00 INFO    {}[4]: {}",
        "2026-12-31T23:30:01.123456789Z Dec 31 23:30:01 mx {}[4]: {}",
        "2026-12-31T23:30:01.123456789Z stdout F Dec 31 23:30:01 mx {}[4]: {}",
    ],
)
def test_postfix_in_each_form_that_has_a_zone(form: str) -> None:
    lines = (form.format("postfix/cleanup", f"AAAAAAAAAA: {QUEUED}"),)
    raw = "\n".join((*lines, form.format("postfix/smtp", f"AAAAAAAAAA: {TO}"))).encode()
    assert guess(raw) == "postfix"
    assert told(raw, reading=BARE) == [f"2 a@example.com {NIGHT} <m1@x>"]


def test_postfix_of_journald_as_json() -> None:
    def entry(program: str, message: object) -> str:
        told = {"SYSLOG_IDENTIFIER": program, "__REALTIME_TIMESTAMP": "1798759801000000"}
        return json.dumps(told | {"MESSAGE": message})

    lines = (
        entry("postfix/cleanup", f"AAAAAAAAAA: {QUEUED}"),
        entry("postfix/smtp", f"AAAAAAAAAA: {TO}"),
        entry("postfix/smtp", list(f"BBBBBBBBBB: {TO}".encode())),
        entry("postfix/smtp", None),
        entry("kernel", f"AAAAAAAAAA: {TO}"),
        "{damaged",
    )
    raw = "\n".join(lines).encode()
    assert guess(raw) == "postfix"
    assert told(raw, reading=BARE) == [
        f"2 a@example.com {NIGHT} <m1@x>",
        f"3 a@example.com {NIGHT} BBBBBBBBBB 2026-12-31",
    ]


def test_exim_by_syslog_without_a_time_of_its_own() -> None:
    line = "Dec 31 23:30:01 mx exim[12]: {}1rJabc-000AbC-1E {}"
    lines = (
        line.format("", "<= us@example.org H=x [127.0.0.1] P=esmtp S=1 id=m1@x"),
        line.format("[1/2] ", "=> a@example.com R=dns T=smtp H=mx [192.0.2.1]"),
        line.format("2026-12-31 23:30:02 ", "-> b@example.com R=dns T=smtp H=mx [192.0.2.1]"),
        line.format("", "** c@example.com R=dns T=smtp: refused"),
    )
    raw = "\n".join(lines).encode()
    assert guess(raw) == "exim"
    assert told(raw) == [
        f"2 a@example.com {NIGHT} <m1@x>",
        "3 b@example.com 2026-12-31T23:30:02 <m1@x>",
        "4 failed",
    ]
    assert told(raw, reading=BARE)[0].endswith("name that of the first line with --year")
    journal = {"SYSLOG_IDENTIFIER": "exim4", "__REALTIME_TIMESTAMP": "1798759801000000"}
    inner = lines[1].partition("exim[12]: ")[2]
    assert told(json.dumps(journal | {"MESSAGE": inner}).encode(), reading=BARE) == [
        f"1 a@example.com {NIGHT} 1rJabc-000AbC-1E"
    ]


@pytest.mark.parametrize("name", ["postfix", "exim"])
@pytest.mark.parametrize("raw", [b"", b"hello\n", b"to,sent at\na@example.com,2026-12-31\n"])
def test_a_named_log_without_a_line_of_it_is_refused(name: str, raw: bytes) -> None:
    with pytest.raises(BadLog, match="no line of the log is one of"):
        told(raw, name)


def test_a_log_in_which_nothing_was_sent_is_empty_and_known() -> None:
    assert told(b"Dec 31 23:30:00 mx postfix/master[1]: daemon started\n", "postfix") == []
    done = b"2026-12-31 23:30:02 1rJabc-000AbC-1D Completed\n"
    assert told(done, "exim") == []
