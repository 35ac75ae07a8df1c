"""The witness's file: whole, on the disk, never ahead of the log, the furthest that was seen."""

import asyncio
import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from ledger.store.hashchain import GENESIS
from ledger.store.witness import witness_file as module
from ledger.store.witness.witness_file import (
    START,
    Mark,
    Witness,
    WitnessError,
    WitnessFile,
    WitnessRecord,
    check_witness,
)
from tests.integration.store.engines import ask, codes, granted, invoice
from tests.integration.witness.conftest import Running

AT = datetime(2026, 12, 1, 12, tzinfo=UTC)


def mark(position: int, byte: int = 1) -> Mark:
    return Mark(position, bytes([byte]) * 32, AT)


def saying(position: int, byte: int = 1, epoch: str = "e") -> WitnessRecord:
    return WitnessRecord(epoch, mark(position, byte))


def test_what_was_written_is_read(witness: Path) -> None:
    file = WitnessFile(witness)
    assert file.read() is None
    for written in (WitnessRecord("e", START), saying(7)):
        file.write(written)
        assert file.read() == written
    assert stat.S_IMODE(witness.stat().st_mode) == 0o600
    assert os.listdir(witness.parent) == [witness.name]


def test_the_furthest_position_is_kept(witness: Path) -> None:
    file = WitnessFile(witness)
    file.write(saying(7))
    file.write(saying(6))
    file.write(saying(7, byte=2))
    assert file.read() == saying(7)
    file.write(saying(8))
    assert file.read() == saying(8)


def test_after_a_loss_the_file_goes_back(witness: Path) -> None:
    file = WitnessFile(witness)
    file.write(saying(7))
    file.write(saying(3), back=True)
    assert file.read() == saying(3)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"epoch": "e", "position": 1, "hash": "x", "at": null}', "\xff"],
)
def test_a_damaged_file_is_no_witness(witness: Path, text: str) -> None:
    witness.parent.mkdir()
    witness.write_text(text, encoding="latin-1")
    with pytest.raises(WitnessError, match=str(witness)):
        WitnessFile(witness).read()


def test_many_notes_are_few_writes(witness: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    write = WitnessFile.write

    def counted(self: WitnessFile, said: WitnessRecord, *, back: bool = False) -> None:
        written.append(said.mark.position)
        write(self, said, back=back)

    monkeypatch.setattr(WitnessFile, "write", counted)
    monkeypatch.setattr(module, "PERIOD", 60)

    async def scenario() -> None:
        seen = Witness(witness)
        seen.epoch = "e"
        for position in range(1, 1001):
            seen.note(mark(position))
            if position == 10:
                await asyncio.sleep(0)
        await seen.close()

    asyncio.run(scenario())
    assert written[-1] == 1000
    assert len(written) == 2
    assert WitnessFile(witness).read() == saying(1000)


def test_a_file_that_cannot_be_written_stops_nothing(
    witness: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What is lost is only that much of the witness; the next write has it again."""
    witness.parent.write_text("a file where the folder should be")

    async def scenario() -> None:
        seen = Witness(witness)
        seen.epoch = "e"
        seen.note(mark(1))
        await seen.close()
        seen.note(mark(2))
        await seen.close()
        witness.parent.unlink()
        seen.note(mark(3))
        await seen.close()

    asyncio.run(scenario())
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert WitnessFile(witness).read() == saying(3)


def test_the_witness_follows_the_log_and_is_never_ahead_of_it(
    database: str, running: Running, witness: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is about to be written stands in the log already, for everybody to see."""
    checked: list[bool] = []
    write = WitnessFile.write

    def write_what_is_committed(
        file: WitnessFile, said: WitnessRecord, *, back: bool = False
    ) -> None:
        checked.append(said.mark == START or end_of(database, said.mark.position) == said.mark)
        write(file, said, back=back)

    monkeypatch.setattr(WitnessFile, "write", write_what_is_committed)
    monkeypatch.setattr(module, "PERIOD", 0)

    async def scenario() -> None:
        async with running(database) as engine:
            for r in range(20):
                await engine.submit_all([invoice(f"i{r}-{n}") for n in range(5)])

    asyncio.run(scenario())
    assert len(checked) > 2
    assert all(checked)
    with psycopg.connect(database) as connection:
        epoch = connection.execute("SELECT value FROM settings WHERE name = 'epoch'").fetchone()
    assert epoch is not None
    assert WitnessFile(witness).read() == WitnessRecord(epoch[0], end_of(database, 301))


def end_of(database: str, position: int) -> Mark:
    with psycopg.connect(database) as connection:
        row = connection.execute(
            "SELECT position, hash, recorded_at FROM events WHERE position >= %s"
            " ORDER BY position LIMIT 1",
            [position],
        ).fetchone()
    assert row is not None
    return Mark(*row)


def test_a_new_ledger_begins_its_witness_at_the_start(database: str, witness: Path) -> None:
    check_witness(database, witness)
    said = json.loads(witness.read_text())
    assert (said["position"], said["hash"], said["at"]) == (0, GENESIS.hex(), None)
    check_witness(database, witness)
    assert json.loads(witness.read_text()) == said


def test_with_a_period_of_0_no_answer_leaves_before_the_file_is_written(
    database: str, running: Running, witness: Path
) -> None:
    """A process that is killed after any answer leaves a witness that knows of it."""

    async def scenario() -> None:
        async with running(database, seconds=0) as engine:
            for number in range(20):
                answer = await engine.submit(invoice(f"inv-{number}"))
                assert answer.status == 200
                kept = WitnessFile(witness).read()
                assert kept is not None
                assert kept.mark.position == answer.position

    asyncio.run(scenario())


def test_with_a_period_of_0_and_no_file_there_is_no_yes(
    database: str, running: Running, witness: Path
) -> None:
    """What was granted stays granted: once the file can be written, the same key hears of it."""

    async def scenario() -> None:
        async with running(database, seconds=0) as engine:
            await engine.submit(invoice("inv"))
            moved = witness.parent.rename(witness.parent.with_name("moved"))
            witness.parent.write_text("a file where the folder should be")
            assert codes([await engine.submit(ask("inv", key="k"))]) == ["unavailable"]
            witness.parent.unlink()
            moved.rename(witness.parent)
            again = await engine.submit(ask("inv", key="k"))
            assert (again.status, again.headers) == (200, (("Idempotent-Replayed", "true"),))

    asyncio.run(scenario())
    assert asyncio.run(granted(database)) == ["inv"]
