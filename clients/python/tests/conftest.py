"""What the tests share: both clients on a stand-in, and one real service for each module."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from clients.python.tests.stub import FACES, Clock, Face, Stub
from tests.support.service import Service, fresh_service

from tests.conftest import migrated, postgres

__all__ = ["migrated", "postgres"]


@pytest.fixture(scope="module")
def service(postgres: str) -> Iterator[Service]:
    """A ledger on a test clock; tests use ids of their own."""
    with fresh_service(postgres, "2026-12-01T00:00:00+00:00") as running:
        yield running


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """A stand-in for the ledger; whoever sleeps does not wait."""
    clock = Clock()
    # For the drivers alone: a server that another test runs in a thread sleeps by itself.
    monkeypatch.setattr("sendledger.drivers.time", _but_sleep(time, clock.sleep))
    monkeypatch.setattr("sendledger.drivers.asyncio", _but_sleep(asyncio, clock.asleep))
    return Stub(clock)


def _but_sleep(module: ModuleType, sleep: Any) -> ModuleType:
    """The module with another `sleep`."""
    found = ModuleType(module.__name__)
    found.__dict__.update(module.__dict__, sleep=sleep)
    return found


@pytest.fixture(params=sorted(FACES))
def face(request: pytest.FixtureRequest, stub: Stub) -> Iterator[Face]:
    """Either client, on the stand-in."""
    made: Any = FACES[request.param](
        "http://ledger.test", "slk_test", transport=stub.transport, pace=stub.pace
    )
    yield made
    made.close()
