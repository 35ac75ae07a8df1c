"""Fixtures for folders whose tests run on every server, unless LEDGER_TEST_POSTGRES names one."""

from collections.abc import Iterator

import pytest
from psycopg.conninfo import conninfo_to_dict

from ledger.store.migrate import migrate
from tests.conftest import wanted_postgres
from tests.support.postgres import KINDS, Kind, fresh_database, running_postgres

_wanted = wanted_postgres()


@pytest.fixture(scope="session", params=[_wanted] if _wanted else KINDS)
def postgres_kind(request: pytest.FixtureRequest) -> Kind:
    """Which PostgreSQL this test runs on."""
    kind: Kind = request.param
    return kind


@pytest.fixture(scope="session")
def postgres(postgres_kind: Kind) -> Iterator[str]:
    """One server of each kind for all tests of this folder."""
    with running_postgres(postgres_kind, fast=True) as conninfo:
        yield conninfo


@pytest.fixture(scope="session")
def migrated(postgres: str) -> Iterator[str]:
    """A database to copy on this folder's own server: the suite's other one is elsewhere."""
    with fresh_database(postgres) as conninfo:
        migrate(conninfo)
        yield str(conninfo_to_dict(conninfo)["dbname"])
