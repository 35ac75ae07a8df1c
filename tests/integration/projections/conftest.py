"""The read side is tested on every server, unless LEDGER_TEST_POSTGRES names one."""

from collections.abc import Iterator

import pytest

from tests.conftest import wanted_postgres
from tests.support.postgres import KINDS, Kind, running_postgres

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
