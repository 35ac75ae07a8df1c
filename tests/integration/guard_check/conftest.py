"""Ledgers on a server that keeps what it commits, as a guard check demands."""

from collections.abc import Iterator

import pytest

from tests.support.postgres import fresh_database


@pytest.fixture
def durable_database(durable_postgres: str) -> Iterator[str]:
    """The conninfo of a new, empty database on a server with fsync on."""
    with fresh_database(durable_postgres) as conninfo:
        yield conninfo
