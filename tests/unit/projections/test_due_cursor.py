"""The cursor of what is due: it comes back as it was given out, and no other is taken."""

import base64
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.due import BadCursor, read_cursor, write_cursor

MOMENT = datetime(2026, 12, 4, 1, 2, 3, 456789, tzinfo=UTC)


def encoded(text: str) -> str:
    """A text as cursors are encoded."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@given(
    st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(9999, 1, 1)),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=255),
)
def test_a_cursor_comes_back_as_it_was_given_out(moment: datetime, customer_id: str) -> None:
    at = moment.replace(tzinfo=UTC)
    assert read_cursor(write_cursor(at, customer_id)) == (at, customer_id)


def test_a_cursor_is_of_the_instant_whatever_its_offset() -> None:
    elsewhere = MOMENT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert write_cursor(elsewhere, "cus_1") == write_cursor(MOMENT, "cus_1")


def test_without_a_cursor_the_list_begins_at_its_beginning() -> None:
    assert read_cursor(None) == ("-infinity", "")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "!",
        "x" * 5,
        "é",
        encoded("not json"),
        encoded("{}"),
        encoded("[]"),
        encoded('["2026-12-04T00:00:00+00:00"]'),
        encoded('["2026-12-04T00:00:00+00:00", "cus_1", 1]'),
        encoded('["2026-12-04T00:00:00+00:00", 7]'),
        encoded('["2026-12-04T00:00:00", "cus_1"]'),
        encoded('["yesterday", "cus_1"]'),
        encoded('[5, "cus_1"]'),
        encoded('["2026-12-04T00:00:00+00:00", "a\\u0000b"]'),
    ],
)
def test_any_other_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(BadCursor, match="was not given out by the list of what is due"):
        read_cursor(cursor)
