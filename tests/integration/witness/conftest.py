"""A witness of the test's own, and engines that go by it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from ledger.application.engine import Engine
from ledger.domain.policy import Policy
from ledger.store.log.writer import PostgresWriter
from ledger.store.witness.witness_file import Witness
from tests.integration.store.engines import IDENTITY

Running: TypeAlias = Callable[..., AbstractAsyncContextManager[Engine]]


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    """Where the witness is."""
    return tmp_path / "beside" / "witness.json"


@pytest.fixture
def running(witness: Path) -> Running:
    """`async with running(database) as engine`: an engine of a process that has this witness."""

    @asynccontextmanager
    async def run(
        database: str, path: Path = witness, seconds: float | None = None
    ) -> AsyncIterator[Engine]:
        writer = PostgresWriter(database, witness=Witness(path, seconds))
        engine = Engine(writer, Policy(), IDENTITY)
        await engine.start()
        try:
            yield engine
        finally:
            await engine.stop()
            await writer.close()

    return run
