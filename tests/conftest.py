"""What the whole suite shares: one PostgreSQL for the session, ledgers of a test's own, profiles.

LEDGER_TEST_POSTGRES names the server: `embedded` (the default) or `debian15`. HYPOTHESIS_PROFILE
names how hard hypothesis tries: `ci` (the same examples each time, the default) or `deep`.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from psycopg.conninfo import conninfo_to_dict

from ledger.store.migrate import migrate
from tests.support.collection_order import place
from tests.support.postgres import KINDS, Kind, fresh_database, running_postgres
from tests.support.preloaded import ROOT

# Servers and files are shared with other tests, so the time that an example takes says nothing.
_CALM = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)
settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=_CALM)
settings.register_profile("deep", max_examples=2_000, deadline=None, suppress_health_check=_CALM)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

_MEMORY = Path("/dev/shm")
_ROOM = 6 * 2**30


def _keep_files_in_memory() -> None:
    """Where there is room: hundreds of databases are copied, and disks are slow and shared."""
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK | os.X_OK):
        return
    if shutil.disk_usage(_MEMORY).free >= _ROOM:
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None


_keep_files_in_memory()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files come first, else one test process stands idle at the end."""
    items.sort(key=lambda item: place(item.path.relative_to(ROOT)))


def wanted_postgres() -> Kind | None:
    """The server that LEDGER_TEST_POSTGRES asks for, None where it is not set."""
    name = os.environ.get("LEDGER_TEST_POSTGRES")
    if not name:
        return None
    assert name in KINDS, f"LEDGER_TEST_POSTGRES is one of {KINDS}, not {name!r}"
    return name


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The conninfo of a server that runs as long as the session; it may be lost in a power cut."""
    with running_postgres(wanted_postgres() or "embedded", fast=True) as conninfo:
        yield conninfo


@pytest.fixture(scope="session")
def durable_postgres() -> Iterator[str]:
    """The conninfo of a server that keeps what it commits: without it no guard check passes."""
    with running_postgres(wanted_postgres() or "embedded") as conninfo:
        yield conninfo


@pytest.fixture
def empty_database(postgres: str) -> Iterator[str]:
    """The conninfo of a new database without any table."""
    with fresh_database(postgres) as conninfo:
        yield conninfo


@pytest.fixture(scope="session")
def migrated(postgres: str) -> Iterator[str]:
    """The name of a database with the ledger's tables, to make copies of; nobody connects to it."""
    with fresh_database(postgres) as conninfo:
        migrate(conninfo)
        yield str(conninfo_to_dict(conninfo)["dbname"])


@pytest.fixture
def database(postgres: str, migrated: str) -> Iterator[str]:
    """The conninfo of a new database with the ledger's tables."""
    with fresh_database(postgres, migrated) as conninfo:
        yield conninfo
