"""Where the witness is kept: one file for each database, whatever user and password lead to it."""

from pathlib import Path

import pytest

from api.settings.environment import SettingsError, load_settings


def _path(**environ: str) -> Path:
    base = {"LEDGER_DATA_DIR": "/data", "LEDGER_SECRET": "a secret of sixteen characters"}
    return load_settings(base | environ).witness_path


def test_the_embedded_ledgers_is_in_its_folder() -> None:
    assert _path() == Path("/data/witness.json")


def test_a_named_one_wins() -> None:
    assert _path(LEDGER_WITNESS="/elsewhere/w.json") == Path("/elsewhere/w.json")


def test_each_database_has_its_own_whoever_connects() -> None:
    first = _path(LEDGER_DATABASE_URL="postgresql://a:x@db.example/ledger")
    assert first == _path(LEDGER_DATABASE_URL="postgresql://b:y@db.example/ledger")
    assert first != _path(LEDGER_DATABASE_URL="postgresql://a:x@db.example/other")
    assert first != _path(LEDGER_DATABASE_URL="postgresql://a:x@db.example:6432/ledger")
    assert first.parent == Path("/data")


def test_a_url_that_is_none_is_a_clear_error() -> None:
    with pytest.raises(SettingsError, match="LEDGER_DATABASE_URL"):
        _ = _path(LEDGER_DATABASE_URL="not a url")
