"""Checkpoints: signed by a key of one's own, refused where anything about them does not fit."""

import json
import stat
from pathlib import Path

import psycopg
import pytest

from ledger.store.looking_back.checkpoints import BadCheckpoint, read_checkpoints, signing_key
from ledger.store.migrate import migrate
from tests.integration.audit.conftest import Command
from tests.support.postgres import fresh_database


def signed(command: Command, *more: str) -> tuple[str, dict[str, object]]:
    """The public key that was printed, and the checkpoint."""
    done = command("audit", "checkpoint", *more)
    assert done.exit_code == 0, done.output
    return done.stderr.strip().removeprefix("public key: "), json.loads(done.stdout)


def test_the_key_is_made_at_its_first_use_and_kept(command: Command, tmp_path: Path) -> None:
    first, said = signed(command)
    path = tmp_path / "data" / "checkpoint-key.pem"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert first == said["key"]
    assert signed(command)[0] == first
    other, _ = signed(command, "--key", str(tmp_path / "another.pem"))
    assert other != first


def test_a_checkpoint_says_what_the_head_is(history: str, command: Command) -> None:
    _, said = signed(command)
    with psycopg.connect(history) as connection:
        row = connection.execute(
            "SELECT position, encode(hash, 'hex') FROM events ORDER BY position DESC LIMIT 1"
        ).fetchone()
        epoch = connection.execute("SELECT value FROM settings WHERE name = 'epoch'").fetchone()
    assert epoch is not None
    assert (said["position"], said["hash"]) == row
    assert said["ledger"] == epoch[0]


def test_checkpoints_are_added_to_a_file(command: Command, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    for _ in range(3):
        assert command("audit", "checkpoint", "--to", str(kept)).exit_code == 0
    assert len(read_checkpoints(kept)) == 3
    found = command("audit", "verify", "--against", str(kept))
    assert "it agrees with 3 checkpoints" in found.output


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("position", 1),
        ("hash", "00" * 32),
        ("ledger", "another"),
        ("recorded_at", "2020-01-01T00:00:00+00:00"),
        ("signed_at", "2020-01-01T00:00:00+00:00"),
        ("signature", "00" * 64),
        ("key", "00" * 32),
    ],
)
def test_a_checkpoint_that_was_changed_is_refused(
    command: Command, tmp_path: Path, name: str, value: object
) -> None:
    kept = tmp_path / "kept"
    _, said = signed(command)
    kept.write_text(json.dumps(said | {name: value}) + "\n")
    found = command("audit", "verify", "--against", str(kept))
    assert found.exit_code == 1
    assert f"{kept}, line 1" in found.output
    assert "good" not in found.output


def test_only_the_expected_key_counts(command: Command, tmp_path: Path) -> None:
    """Whoever rewrote the log could sign it too, by a key of their own."""
    kept, other = tmp_path / "kept", tmp_path / "forger.pem"
    mine, _ = signed(command)
    command("audit", "checkpoint", "--to", str(kept), "--key", str(other))
    for arguments in ([], ["--public-key", mine]):
        found = command("audit", "verify", "--against", str(kept), *arguments)
        assert found.exit_code == 1
        assert "signed by the key" in found.output
    trusted = command("audit", "verify", "--against", str(kept), "--key", str(other))
    assert trusted.exit_code == 0


def test_without_any_key_the_signer_must_be_named(command: Command, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    public = command("audit", "checkpoint", "--to", str(kept)).stderr.splitlines()[0]
    elsewhere = {"LEDGER_DATA_DIR": str(tmp_path / "elsewhere")}
    found = command("audit", "verify", "--against", str(kept), **elsewhere)
    assert found.exit_code == 1
    assert "--public-key" in found.output
    key = public.removeprefix("public key: ")
    named = command("audit", "verify", "--against", str(kept), "--public-key", key, **elsewhere)
    assert named.exit_code == 0, named.output


def test_a_checkpoint_of_another_ledger_is_refused(
    postgres: str, command: Command, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    with fresh_database(postgres) as other:
        migrate(other)
        with psycopg.connect(other, autocommit=True) as connection:
            connection.execute("UPDATE settings SET value = 'other' WHERE name = 'epoch'")
        command("audit", "checkpoint", "--to", str(kept), LEDGER_DATABASE_URL=other)
    found = command("audit", "verify", "--against", str(kept))
    assert found.exit_code == 1
    assert "of the ledger other" in found.output


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    signing_key(path)
    path.chmod(0o640)
    with pytest.raises(BadCheckpoint, match="chmod 600"):
        signing_key(path)


@pytest.mark.parametrize("text", ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n"])
def test_a_file_that_holds_no_key_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key.pem"
    path.touch(0o600)
    path.write_text(text)
    with pytest.raises(BadCheckpoint, match="private key"):
        signing_key(path)


@pytest.mark.parametrize("text", ["", "\n", "{}", "[]", "null", "no json"])
def test_a_file_without_a_checkpoint_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kept"
    path.write_text(text)
    with pytest.raises(BadCheckpoint):
        read_checkpoints(path)
