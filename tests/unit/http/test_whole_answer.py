"""An answer in one write: what is written, and where the door leaves it to uvicorn."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from api.http.door.whole_answer import send_whole

BODY = b'{"state":"granted"}'
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"19")]


class Cycle(SimpleNamespace):
    """What uvicorn's cycle of one request is to the answer; it keeps what is written."""

    def __init__(self, **differs: Any) -> None:
        self.written: list[bytes] = []
        self.closed = self.ended = 0
        fields: dict[str, Any] = {
            "disconnected": False,
            "response_started": False,
            "response_complete": False,
            "waiting_for_100_continue": True,
            "keep_alive": True,
            "default_headers": [(b"date", b"today")],
            "scope": {"method": "POST"},
            "flow": SimpleNamespace(write_paused=False),
            "transport": SimpleNamespace(write=self.written.append, close=self._close),
            "message_event": asyncio.Event(),
            "on_response": self._end,
        }
        super().__init__(**(fields | differs))

    async def send(self, message: Any) -> None:
        """uvicorn's own way, which is not gone here."""

    def _close(self) -> None:
        self.closed += 1

    def _end(self) -> None:
        self.ended += 1


def test_head_and_body_are_one_write_that_ends_the_request() -> None:
    cycle = Cycle()
    assert send_whole(cycle.send, 201, HEADERS, BODY) is True
    assert cycle.written == [
        b"HTTP/1.1 201 Created\r\ndate: today\r\ncontent-type: application/json\r\n"
        b"content-length: 19\r\n\r\n" + BODY
    ]
    assert (cycle.response_started, cycle.response_complete, cycle.ended) == (True, True, 1)
    assert cycle.message_event.is_set()
    assert (cycle.waiting_for_100_continue, cycle.closed) == (False, 0)


def test_a_connection_that_is_not_kept_is_closed_after_the_answer() -> None:
    cycle = Cycle(keep_alive=False)
    assert send_whole(cycle.send, 409, HEADERS, BODY) is True
    assert b"\r\nconnection: close\r\n\r\n" in cycle.written[0]
    assert (cycle.closed, cycle.ended) == (1, 1)


@pytest.mark.parametrize(
    "differs",
    [
        {"flow": SimpleNamespace(write_paused=True)},
        {"response_started": True},
        {"scope": {"method": "HEAD"}},
    ],
)
def test_what_needs_more_than_one_write_is_left_alone(differs: dict[str, Any]) -> None:
    cycle = Cycle(**differs)
    assert send_whole(cycle.send, 201, HEADERS, BODY) is False
    assert (cycle.written, cycle.ended) == ([], 0)


def test_nothing_is_written_to_who_is_gone() -> None:
    cycle = Cycle(disconnected=True)
    assert send_whole(cycle.send, 201, HEADERS, BODY) is True
    assert (cycle.written, cycle.ended) == ([], 0)


@pytest.mark.parametrize("value", [b"a\r\nset-cookie: b", b"a\nb", b"a\rb"])
def test_a_header_with_a_line_break_is_refused(value: bytes) -> None:
    cycle = Cycle()
    with pytest.raises(ValueError, match="line break"):
        send_whole(cycle.send, 200, [(b"ledger-warning", value)], BODY)
    assert cycle.written == []
