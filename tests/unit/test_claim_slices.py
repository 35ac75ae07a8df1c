"""The slices of a claim: each ready customer once, and no more of them than were asked for."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from api.routes import due as route
from projections.due import DueCustomer, DuePage


def _customer(customer_id: str, *invoices: str) -> DueCustomer:
    return DueCustomer(customer_id, None, None, [{"invoice_id": i} for i in invoices])


PAGES = {
    None: DuePage([_customer("a", "a-1", "a-2"), _customer("b", "b-1")], "1", 7),
    "1": DuePage([_customer("a", "a-3"), _customer("c", "c-1")], "2", 8),
    "2": DuePage([_customer("d", "d-1")], None, 9),
}
"""Once a mail for `a` was granted, the invoice that was left over stands at a later date."""


def _slices(monkeypatch: pytest.MonkeyPatch, limit: int) -> tuple[list[Any], list[int]]:
    asked: list[int] = []

    async def page(_: Any, __: Any, limit: int, cursor: str | None, ready: bool) -> DuePage:
        assert ready
        asked.append(limit)
        found = PAGES[cursor]
        return DuePage(found.items[:limit], found.next, found.as_of)

    async def read() -> list[Any]:
        context: Any = None
        async with aclosing(route._ready_groups(context, None, limit)) as slices:
            return [groups async for groups in slices]

    monkeypatch.setattr(route, "_due", page)
    monkeypatch.setattr(route, "_SLICE", 2)
    return asyncio.run(read()), asked


def test_a_customer_who_comes_again_is_not_mailed_twice_by_one_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, asked = _slices(monkeypatch, 10)
    assert found == [[("a-1", "a-2"), ("b-1",)], [("c-1",)], [("d-1",)]]
    assert asked == [2, 2, 2]


def test_whoever_comes_again_takes_nobody_elses_place(monkeypatch: pytest.MonkeyPatch) -> None:
    found, asked = _slices(monkeypatch, 4)
    assert found == [[("a-1", "a-2"), ("b-1",)], [("c-1",)], [("d-1",)]]
    assert asked == [2, 2, 1]


def test_no_more_is_read_than_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    found, asked = _slices(monkeypatch, 2)
    assert found == [[("a-1", "a-2"), ("b-1",)]]
    assert asked == [2]
