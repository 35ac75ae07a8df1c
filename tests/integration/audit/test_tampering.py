"""Tampering by a superuser with a real history: each kind is found, the last by a checkpoint."""

from pathlib import Path

import psycopg
import pytest

from tests.integration.audit.conftest import Command
from tests.support.tampering import rebuild_chain, tamper

MIDDLE = 30


def last_position(database: str) -> int:
    with psycopg.connect(database) as connection:
        row = connection.execute("SELECT max(position) FROM events").fetchone()
    assert row is not None
    position: int = row[0]
    return position


def test_a_log_that_nobody_touched_is_good(history: str, command: Command, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert command("audit", "checkpoint", "--to", str(kept)).exit_code == 0
    found = command("audit", "verify", "--against", str(kept))
    end = last_position(history)
    assert found.exit_code == 0, found.output
    assert f"good: {end} events, up to position {end}" in found.output
    assert "it agrees with 1 checkpoint\n" in found.output


@pytest.mark.parametrize(
    ("statements", "position", "problem"),
    [
        (
            [
                "UPDATE events SET state = replace(state::text, '30000', '30001')::json"
                " WHERE position = (SELECT min(position) FROM events"
                "  WHERE topic = 'ledger:Invoice.Observed' AND position > 20)"
            ],
            None,
            "changed",
        ),
        ([f"DELETE FROM events WHERE position = {MIDDLE}"], MIDDLE, "missing"),
        (
            [
                f"UPDATE events SET position = -1 WHERE position = {MIDDLE}",
                f"UPDATE events SET position = {MIDDLE} WHERE position = {MIDDLE + 5}",
                f"UPDATE events SET position = {MIDDLE + 5} WHERE position = -1",
            ],
            MIDDLE,
            "changed",
        ),
    ],
    ids=["a byte changed", "an event deleted", "two swapped"],
)
def test_what_was_touched_is_named(
    history: str, command: Command, statements: list[str], position: int | None, problem: str
) -> None:
    if position is None:
        with psycopg.connect(history) as connection:
            row = connection.execute(
                "SELECT min(position) FROM events"
                " WHERE topic = 'ledger:Invoice.Observed' AND position > 20"
            ).fetchone()
        assert row is not None
        position = row[0]
    tamper(history, *statements)
    found = command("audit", "verify")
    assert found.exit_code == 1
    assert f"position {position} is bad: {problem}" in found.output


def test_a_cut_tail_is_found_by_a_checkpoint(
    history: str, command: Command, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    command("audit", "checkpoint", "--to", str(kept))
    end = last_position(history)
    tamper(history, f"DELETE FROM events WHERE position > {end - 3}")
    assert command("audit", "verify").exit_code == 0
    found = command("audit", "verify", "--against", str(kept))
    assert found.exit_code == 1
    assert f"position {end - 2} is bad: cut_off" in found.output


def test_a_chain_that_was_rebuilt_is_found_by_a_checkpoint(
    history: str, command: Command, tmp_path: Path
) -> None:
    """The forger has the source, and computes every hash anew."""
    kept = tmp_path / "kept"
    command("audit", "checkpoint", "--to", str(kept))
    end = last_position(history)
    tamper(
        history,
        "UPDATE events SET state = replace(state::text, '30000', '29999')::json"
        " WHERE topic = 'ledger:Invoice.Observed'",
    )
    rebuild_chain(history)
    whole = command("audit", "verify")
    assert whole.exit_code == 0
    assert f"good: {end} events" in whole.output
    found = command("audit", "verify", "--against", str(kept))
    assert found.exit_code == 1
    assert f"position {end} is bad: rewritten" in found.output


def test_a_run_goes_on_where_one_before_it_stopped(
    history: str, command: Command, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    end = last_position(history)
    first = command("audit", "verify", "--resume", str(state))
    assert f"good: {end} events" in first.output
    again = command("audit", "verify", "--resume", str(state))
    assert again.exit_code == 0
    assert f"good: 0 events, up to position {end}" in again.output
    tamper(history, f"DELETE FROM events WHERE position = {end}")
    gone = command("audit", "verify", "--resume", str(state))
    assert gone.exit_code == 1
    assert f"position {end} is bad: cut_off" in gone.output
    state.write_text("{}")
    damaged = command("audit", "verify", "--resume", str(state))
    assert damaged.exit_code == 1
    assert "is not what an earlier run left there" in damaged.output
