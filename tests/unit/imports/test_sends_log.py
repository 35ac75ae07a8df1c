"""Reading a provider's sent log: every row by itself, whatever is in it."""

import io
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from api.imports.dates import Dates, moment_of
from api.imports.rows import BadLog, BadRow, RawRow
from api.imports.sends_log import Columns, Reading, SentMail, log_rows, understood

NOON = datetime(2026, 7, 14, 12, tzinfo=UTC)
COLUMNS = Columns(customer="customer", at="at", id="id")


def rows(text: str | bytes, form: str = "csv", columns: Columns = COLUMNS) -> list[RawRow]:
    """The rows of a file with this text."""
    raw = text.encode() if isinstance(text, str) else text
    file = io.BufferedReader(io.BytesIO(raw))  # type: ignore[arg-type]
    return list(log_rows(file, form, Reading(columns, "tests")))


def sent_mail(row: RawRow, columns: Columns, zone: ZoneInfo | None) -> SentMail:
    """The one mail of a row."""
    (mail,) = understood(row, Reading(columns, "tests", Dates(zone))).mails
    return mail


def row(**columns: Any) -> RawRow:
    """A row of cus_1, sent at noon, unless the columns differ."""
    return RawRow(2, {"customer": "cus_1", "at": NOON.isoformat(), "id": "m1"} | columns)


def why(columns: Columns = COLUMNS, **told: Any) -> str:
    """Why a row cannot be used."""
    with pytest.raises(BadRow) as error:
        sent_mail(row(**told), columns, None)
    return str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "2026-07-14T12:00:00Z",
        "2026-07-14 14:00:00+02:00",
        "20260714T120000Z",
        "Tue, 14 Jul 2026 12:00:00 +0000",
        "1784030400",
        "1784030400.0",
        "1784030400000",
    ],
)
def test_times_as_logs_write_them(text: str) -> None:
    assert moment_of(text, Dates()) == NOON


def test_a_time_without_an_offset_needs_a_zone() -> None:
    assert moment_of("2026-07-14 14:00:00", Dates(ZoneInfo("Europe/Berlin"))) == NOON
    with pytest.raises(BadRow, match="no offset"):
        moment_of("2026-07-14 14:00:00", Dates())


@pytest.mark.parametrize("text", ["yesterday", "1e300", "nan", "inf", "-", "2026-13-01T00:00:00Z"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(BadRow, match="at: "):
        moment_of(text, Dates())


def test_csv_with_quotes_a_byte_order_mark_and_lines_within_fields() -> None:
    first = b'cus_1,1784030400,"a,b","two\nlines"\r\n\r\n'
    text = b"\xef\xbb\xbfcustomer,at,id,subject\r\n" + first + b"cus_2,1784030400,m2,x\r\n"
    found = rows(text)
    assert [(r.line, r.columns["customer"], r.columns["id"]) for r in found] == [
        (3, "cus_1", "a,b"),
        (5, "cus_2", "m2"),
    ]


def test_a_csv_row_that_is_not_like_the_others_is_alone_in_that() -> None:
    text = b"customer,at,id\ncus_1,1784030400\ncus_2,1784030400,m2\n"
    text += b"x\xff\xfe,1784030400,m3\ncus_4,1784030400,m4,more\n"
    found = rows(text)
    assert [r.trouble for r in found] == [
        "it has 2 columns, not 3",
        None,
        None,
        "it has 4 columns, not 3",
    ]
    assert sent_mail(found[1], COLUMNS, None).data.customer_id == "cus_2"
    with pytest.raises(BadRow, match="customer_id: "):
        sent_mail(found[2], COLUMNS, None)


def test_a_csv_field_without_end_does_not_fill_the_memory() -> None:
    long = "x" * 300_000
    found = rows(f'customer,at,id\n"{long}",0,m1\ncus_2,1784030400,m2\n')
    assert found[0].trouble is not None
    assert found[-1].columns.get("customer") == "cus_2"


def test_a_csv_without_the_named_columns_cannot_be_used_at_all() -> None:
    with pytest.raises(BadLog, match="there is no column at, id; there are customer, sent"):
        rows("customer,sent\n")
    with pytest.raises(BadLog, match="empty"):
        rows("")
    with pytest.raises(BadLog) as error:
        rows("pat@example.com,2026-07-14\n")
    assert "pat@example.com" not in str(error.value)


def test_json_lines_with_nested_columns_and_numbers() -> None:
    columns = Columns(customer="to.customer", at="ts", id="id")
    text = '{"to": {"customer": 17}, "ts": 1784030400000, "id": 5}\n\n'
    text += '{"to": {}, "ts": 1784030400}\n'
    first, second = rows(text, "jsonl", columns)
    mail = sent_mail(first, columns, None)
    assert (mail.line, mail.mail_id, mail.data.customer_id, mail.data.at) == (1, "5", "17", NOON)
    assert second.line == 3
    with pytest.raises(BadRow, match="names no customer"):
        sent_mail(second, columns, None)


def test_json_lines_that_are_none() -> None:
    text = b'[1]\n{"customer": \n\xff\n' + b'{"x": "' + b"y" * (1024 * 1024) + b'"}\n{"id": "m5"}\n'
    found = rows(text, "jsonl")
    assert [r.trouble for r in found] == [
        "it is no JSON object",
        "it is no JSON object",
        "it is no JSON object",
        "it is longer than 1 MiB",
        None,
    ]
    assert (found[4].line, found[4].columns) == (5, {"id": "m5"})


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"customer": ""}, "it names no customer"),
        ({"customer": " "}, "it names no customer"),
        ({"at": ""}, "it has no time"),
        ({"at": None}, "it has no time"),
        ({"customer": "x" * 256}, "customer_id: String should have at most 255 characters"),
        ({"customer": "a\x07"}, "customer_id: String should match pattern"),
        ({"customer": "ledger-probe-1"}, "customer_id: ids that begin with"),
        ({"customer": ["cus_1"]}, "customer is neither text nor a number"),
        ({"customer": True}, "customer is neither text nor a number"),
        ({"id": "x" * 256}, "String should have at most 255 characters"),
        ({"at": "1900-01-01T00:00:00Z"}, "at: the date lies before the year 2000"),
    ],
)
def test_rows_that_cannot_be_used_say_why_and_nothing_of_themselves(
    told: dict[str, Any], says: str
) -> None:
    reason = why(**told)
    assert reason.startswith(says)
    assert "xxx" not in reason
    assert "\x07" not in reason


def test_an_address_stands_in_only_where_no_customer_is_named() -> None:
    columns = Columns(customer="customer", at="at", address="to")
    assert sent_mail(row(to="pat@example.com"), columns, None).address is None
    assert sent_mail(row(customer="", to="pat@example.com"), columns, None).address is not None
    assert why(columns, customer="", to="nobody") == "not an e-mail address"


def test_stage_and_intent_count_only_beside_their_invoice_and_thread() -> None:
    columns = Columns("customer", "at", "invoice", "stage", "thread", "intent")
    full = sent_mail(row(invoice="i", stage="day-3", thread="t", intent="n"), columns, None).data
    assert (full.invoice_id, full.stage, full.thread_id, full.intent) == ("i", "day-3", "t", "n")
    bare = sent_mail(row(stage="day-3", thread="t"), columns, None).data
    assert (bare.invoice_id, bare.stage, bare.thread_id, bare.intent) == (None, None, None, None)


def test_a_row_without_an_id_is_named_by_all_that_it_holds() -> None:
    columns = Columns(customer="customer", at="at")
    names = [
        sent_mail(row(**told), columns, None).mail_id
        for told in ({}, {}, {"subject": "x"}, {"subject": "y"}, {"at": "1784030401"})
    ]
    assert names[0] == names[1]
    assert len(set(names)) == 4
    assert all(name.startswith("row:") and len(name) == 44 for name in names)


def test_a_message_id_is_known_with_and_without_its_brackets() -> None:
    columns = Columns(customer="customer", at="at", message_id="header")
    with_them, without = (
        sent_mail(row(header=text), columns, None).message_id for text in ("<a@b>", "a@b")
    )
    assert with_them == without
