"""Preparing a ledger: its secret is never made in silence, its ready-made key not told for ever."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from psycopg import AsyncConnection

from api.cli.main import main
from api.process.serving import FIRST_KEY, Started, is_kept, prepare
from api.settings.environment import Settings, load_settings
from ledger.store.keys import revoke_key
from ledger.store.setup import WrongSecret
from tests.support.postgres import fresh_database


@pytest.fixture
def conninfo(postgres: str) -> Iterator[str]:
    """A new database."""
    with fresh_database(postgres) as conninfo:
        yield conninfo


def _settings(folder: Path, **more: str) -> Settings:
    return load_settings({"LEDGER_DATA_DIR": str(folder), "LEDGER_CONFIG": ""} | more)


def _embedded(folder: Path, conninfo: str) -> Started:
    """Prepared as the embedded ledger of that folder is, on another database."""
    return prepare(_settings(folder), conninfo, None)


def test_a_secret_is_made_once_said_and_kept(
    tmp_path: Path, conninfo: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = _settings(tmp_path, LEDGER_DATABASE_URL=conninfo)
    assert settings.secret == b""
    assert list(tmp_path.iterdir()) == []
    with caplog.at_level(logging.WARNING):
        started = prepare(settings, conninfo, None)
    assert len(started.settings.secret) == 64
    assert f"LEDGER_SECRET is not set: made one in {tmp_path / 'secret'}" in caplog.text
    assert started.settings.secret.decode() not in caplog.text
    caplog.clear()
    again = prepare(_settings(tmp_path, LEDGER_DATABASE_URL=conninfo), conninfo, None)
    assert again.settings.secret == started.settings.secret
    assert caplog.text == ""


def test_no_secret_is_made_for_a_ledger_that_has_one(tmp_path: Path, conninfo: str) -> None:
    prepare(_settings(tmp_path / "a", LEDGER_DATABASE_URL=conninfo), conninfo, None)
    with pytest.raises(WrongSecret, match="LEDGER_SECRET is not set"):
        prepare(_settings(tmp_path / "b", LEDGER_DATABASE_URL=conninfo), conninfo, None)
    assert not (tmp_path / "b" / "secret").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("migrate",),
        ("keys", "list"),
        ("due",),
        ("audit", "verify"),
        ("projections", "rebuild", "invoices"),
        ("erase", "somebody"),
        ("webhooks", "replay"),
    ],
    ids=" ".join,
)
def test_every_command_refuses_a_wrong_secret_alike(
    prepared: str, tmp_path: Path, words: tuple[str, ...]
) -> None:
    env = {"LEDGER_DATABASE_URL": prepared, "LEDGER_DATA_DIR": str(tmp_path), "LEDGER_CONFIG": ""}
    done = CliRunner().invoke(main, words, env=env | {"LEDGER_SECRET": "another secret of theirs"})
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: LEDGER_SECRET is not the secret that this ledger was set up with; "
        "give it the right one (or its secret file)\n",
    )


@pytest.fixture(scope="module")
def prepared(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A ledger that was set up."""
    with fresh_database(postgres) as conninfo:
        folder = tmp_path_factory.mktemp("prepared")
        prepare(_settings(folder, LEDGER_DATABASE_URL=conninfo), conninfo, None)
        yield conninfo


def test_a_command_without_the_secret_makes_none(prepared: str, tmp_path: Path) -> None:
    env = {"LEDGER_DATABASE_URL": prepared, "LEDGER_DATA_DIR": str(tmp_path), "LEDGER_CONFIG": ""}
    done = CliRunner().invoke(main, ("status",), env=env | {"LEDGER_SECRET": ""})
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: LEDGER_SECRET is not set, and there is no file `secret`")
    assert list(tmp_path.iterdir()) == []


def test_the_ready_made_key_is_told_again_until_it_is_revoked(
    tmp_path: Path, conninfo: str
) -> None:
    first = _embedded(tmp_path, conninfo)
    assert (first.fresh, first.first_key is not None) == (True, True)
    again = _embedded(tmp_path, conninfo)
    assert (again.fresh, again.first_key) == (False, first.first_key)
    asyncio.run(_revoke(conninfo))
    revoked = _embedded(tmp_path, conninfo)
    assert (revoked.fresh, revoked.first_key) == (False, None)
    assert not (tmp_path / FIRST_KEY).exists()


async def _revoke(conninfo: str) -> None:
    async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
        await revoke_key(connection, "key_first")


def test_a_key_is_not_printed_into_a_file_or_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "serve.log").open("w") as file, Path("/dev/null").open("w") as other:
        assert is_kept(file) is True
        assert is_kept(other) is False
        monkeypatch.setenv("JOURNAL_STREAM", "8:1")
        assert is_kept(other) is True
