"""Columns as exports really have them: parted times, zones beside them, copies, lines before."""

import json
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from api.imports.dates import Dates
from api.imports.sends_log import Columns, Reading
from tests.support.import_samples import IN_UTC, guess, told

BARE = Reading(Columns(), "tests", Dates())
NIGHT = "2026-12-31T23:30:00"


def read(head: str, row: str, reading: Reading = IN_UTC) -> str:
    """What a CSV of one row tells, without the line's number."""
    (found,) = told(f"{head}\n{row}\n".encode(), "csv", reading)
    return found.partition(" ")[2]


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("To,Date,Time,ID", "a@example.com,2026-12-31,23:30:00,1"),
        ("To,Date,Time,ID", "a@example.com,12/31/2026,11:30 PM,1"),
        ("To,Date,Time,ID", "a@example.com,31.12.2026,23:30,1"),
        ("To,Send Date,Send Time,ID", "a@example.com,2026-12-31,23:30,1"),
        ("To,Sent Time,Date,ID", "a@example.com,23:30,2026-12-31,1"),
        ("To,Date,Time,ID", "a@example.com,2026-12-31 23:30,,1"),
        ("To,Date,Time,ID", "a@example.com,2026-12-31,2026-12-31T23:30:00Z,1"),
        ("To,Date,Time (UTC),ID", "a@example.com,2026-12-31,23:30,1"),
        ("To,Sent At (UTC),ID", "a@example.com,2026-12-31 23:30,1"),
        ("To,Sent (UTC),ID", "a@example.com,2026-12-31 23:30,1"),
        ("To,sent_at_utc,ID", "a@example.com,2026-12-31 23:30,1"),
        ("To,Sent At [Europe/Berlin],ID", "a@example.com,2027-01-01 00:30,1"),
        ("To,Sent At (EST),ID", "a@example.com,2026-12-31T23:30:00Z,1"),
        ("To,Sent At,Time Zone,ID", "a@example.com,2027-01-01 00:30,Europe/Berlin,1"),
        ("To,Sent At,timezone,ID", "a@example.com,12/31/2026 6:30 PM,EST,1"),
        ("To,Sent At,UTC Offset,ID", "a@example.com,2026-12-31 18:30,-05:00,1"),
        ("To,Sent At,Time Zone,ID", "a@example.com,1798759800,Europe/Berlin,1"),
        ("To,Sent At,Time Zone,ID", "a@example.com,2026-12-31 23:30,,1"),
        ("To,Date,Time,TZ,ID", "a@example.com,2027-01-01,00:30,CET,1"),
    ],
)
def test_a_time_in_parts_and_with_a_zone_beside_it(head: str, row: str) -> None:
    assert read(head, row) == f"a@example.com {NIGHT} 1"


@pytest.mark.parametrize("zone", ["somewhere", "CST", "Eastern Time (US & Canada)"])
def test_a_zone_beside_the_time_that_is_not_certain_stops_the_log(zone: str) -> None:
    for reading in (IN_UTC, BARE):
        found = read("To,Sent At,Time Zone", f"a@example.com,2026-12-31 23:30,{zone}", reading)
        assert found.startswith("at: the name of the time's zone can mean several")


def test_a_zone_beside_the_time_counts_with_a_format_too() -> None:
    reading = replace(IN_UTC, dates=Dates(ZoneInfo("UTC"), ("excel", "%y|%m|%d %H.%M"), None))
    for time in ("46387.97916666667", "26|12|31 23.30"):
        found = read("To;Sent At;Time Zone;ID", f"a@example.com;{time};Europe/Berlin;1", reading)
        assert found == "a@example.com 2026-12-31T22:30:00 1"


def test_the_clock_is_not_dropped_where_it_cannot_be_read() -> None:
    found = read("To,Date,Time", "a@example.com,2026-12-31,late")
    assert found == "at: this is no time; write 2026-12-01T00:00:00Z"


def test_each_copy_counts() -> None:
    raw = b"To,Cc,Bcc,Sent At,ID\n"
    raw += b'a@example.com,"b@example.com; c@example.com",d@example.com,2026-12-31 23:30,1\n'
    raw += b"e@example.com,,,2026-12-31 23:30,2\n"
    assert told(raw, "csv") == [
        *(f"2 {name}@example.com {NIGHT} 1" for name in "abcd"),
        f"3 e@example.com {NIGHT} 2",
    ]
    record = {"to": ["a@example.com"], "cc": ["b@example.com"], "bcc": "c@example.com"}
    record |= {"sentAt": f"{NIGHT}Z", "messageId": "1"}
    assert told(json.dumps(record).encode(), "csv") == [
        f"1 {name}@example.com {NIGHT} 1" for name in "abc"
    ]


def test_a_line_that_names_the_mark_stands_before_the_header() -> None:
    for line in ("sep=;", '"sep=;"', "SEP=;\r"):
        raw = f"{line}\nto;sent at;id\na@example.com;2026-12-31 23:30;1\nb;x\n".encode()
        assert told(raw, "csv") == [f"3 a@example.com {NIGHT} 1", "4: it has 2 columns, not 3"]
    resend = f"sep=\t\nid\tto\tcreated_at\tlast_event\nr1\ta@example.com\t{NIGHT}Z\tsent\n"
    assert guess(resend.encode()) == "resend"
    assert told(resend.encode()) == [f"3 a@example.com {NIGHT} r1"]


def test_a_name_that_begins_with_an_at_sign_is_no_address() -> None:
    raw = b"@timestamp,event,recipient,message.headers.message-id\n"
    raw += b"2026-12-31T23:30:00Z,delivered,a@example.com,m1@mg.example.org\n"
    assert guess(raw) == "mailgun"
    assert told(raw) == [f"2 a@example.com {NIGHT} <m1@mg.example.org>"]
    assert guess(raw.splitlines()[1]) is None


def test_words_for_bounces() -> None:
    head = "To,Sent At,ID,Status"
    for word, fate in (("hard-bounced", "failed"), ("Soft-Bounced", "other"), ("spam", "other")):
        assert read(head, f"a@example.com,2026-12-31 23:30,1,{word}") == fate


def test_events_that_tell_of_no_mail_are_passed_over() -> None:
    event = {"email": "a@example.com", "timestamp": 1798759800, "sg_event_id": "e"}
    events = [event | {"event": word} for word in ("cancel_drop", "account_status_change")]
    assert told(json.dumps(events).encode()) == ["1 failed", "2 other"]
    sent = {"email_id": "r1", "to": ["a@example.com"], "created_at": f"{NIGHT}Z"}
    lines: list[object] = [{"type": "email.sent", "data": sent}]
    for kind in ("contact.created", "contact.deleted", "domain.updated"):
        lines.append({"type": kind, "data": {"id": "x", "email": "a@example.com"}})
    assert told("\n".join(map(json.dumps, lines)).encode()) == [
        f"1 a@example.com {NIGHT} r1",
        "2 other",
        "3 other",
        "4 other",
    ]


def test_pages_of_postmarks_bounces() -> None:
    bounce = {"RecordType": "Bounce", "ID": 1, "MessageID": "m1", "Email": "a@example.com"}
    bounce |= {"BouncedAt": f"{NIGHT}Z", "Type": "HardBounce"}
    later = bounce | {"Type": "Transient"}
    bare = {name: value for name, value in bounce.items() if name != "RecordType"}
    page = {"TotalCount": 3, "Bounces": [bounce, later, bare, bare | {"Type": "Unsubscribe"}]}
    assert guess(json.dumps(page).encode()) == "postmark"
    assert told(json.dumps(page).encode()) == ["1 failed", "2 other", "3 failed", "4 other"]


def test_the_deliverability_manager_of_ses() -> None:
    head = "Message ID,Email address,Subject,Sent date,ISP,Last delivery event\n"
    rows = [f"s1,a@example.com,Hi,{NIGHT}Z,Gmail,{word}" for word in ("Delivery", "Complaint")]
    rows.append(f"s1,a@example.com,Hi,{NIGHT}Z,Gmail,Permanent bounce")
    raw = (head + "\n".join(rows)).encode()
    assert guess(raw) == "ses"
    assert told(raw) == [
        f"2 a@example.com {NIGHT} s1",
        f"3 a@example.com {NIGHT} s1",
        "4 failed",
    ]


def test_insights_of_ses_are_a_row_for_each_copy() -> None:
    def insight(to: str, *events: object) -> dict[str, object]:
        return {"Destination": to, "Isp": "Gmail", "Events": list(events)}

    sent = {"Timestamp": f"{NIGHT}Z", "Type": "SEND"}
    later = {"Timestamp": "2026-12-31T23:31:00Z"}
    opened, arrived = later | {"Type": "OPEN"}, later | {"Type": "DELIVERY"}
    gone, full = (
        later | {"Type": "BOUNCE", "Details": {"Bounce": {"BounceType": kind}}}
        for kind in ("PERMANENT", "TRANSIENT")
    )
    mail = {
        "MessageId": "s1",
        "Insights": [
            insight("a@example.com", opened, arrived, sent),
            insight("b@example.com", sent, gone),
            insight("c@example.com", sent, full),
            insight("d@example.com", later | {"Type": "REJECT"}),
        ],
    }
    raw = json.dumps(mail).encode()
    assert guess(raw) == "ses"
    assert told(raw) == [f"1 a@example.com {NIGHT} s1", "1 failed", "1 other", "1 failed"]


@pytest.mark.parametrize("text", ["a" + " " * 200_000 + "b", "abc" * 60_000, "(" * 200_000])
def test_long_texts_cost_no_more_than_their_length(text: str) -> None:
    for row in (f"a@example.com,{text},10:00", f"a@example.com,2026-12-31,{text}"):
        found = read("To,Date,Time", row)
        assert found == "at: this is no time; write 2026-12-01T00:00:00Z"
