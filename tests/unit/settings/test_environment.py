"""Settings that are not right stop the start with a line that names them, and never show values."""

import pytest

from api.settings.environment import SettingsError, load_settings

_BASE = {"LEDGER_DATA_DIR": "/data", "LEDGER_SECRET": "a secret of sixteen characters"}


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("LEDGER_DATABASE_URL", "mysql://ann:hunter2@db/ledger", "is not a PostgreSQL URL"),
        ("LEDGER_DATABASE_URL", "hunter2", "postgresql://user@host:5432/database"),
        ("LEDGER_ANNOUNCE", "/no/such/folder/a.json", "there is no folder /no/such/folder"),
        ("LEDGER_WITNESS_URL", "hunter2", "is not a PostgreSQL URL"),
        ("LEDGER_REQUIRE_SYNC", "yes", "must be on or off"),
        ("LEDGER_WITNESS_SECONDS", "soon", "from 0 to 60"),
        ("LEDGER_WITNESS_SECONDS", "61", "from 0 to 60"),
        ("LEDGER_SECRET", "hunter2", "at least 16 characters"),
        ("LEDGER_CONFIG", "/no/such/ledger.toml", "does not exist"),
        ("LEDGER_WEBHOOK_STRIP_SECRET", "hunter2", "the providers are STRIPE, CHARGEBEE, RECURLY"),
        ("LEDGER_WEBHOOK_STRIPE_SECRETS", "hunter2", "SECRET, MODE, PREFIX, REMINDERS"),
    ],
)
def test_it_is_named(name: str, value: str, told: str) -> None:
    with pytest.raises(SettingsError) as stopped:
        load_settings(_BASE | {name: value})
    assert name in str(stopped.value)
    assert told in str(stopped.value)
    assert "hunter2" not in str(stopped.value)


@pytest.mark.parametrize(("end", "value"), [("MODE", "prod"), ("REMINDERS", "no")])
def test_a_webhooks_choice_is_one_of_two(end: str, value: str) -> None:
    env = _BASE | {"LEDGER_WEBHOOK_STRIPE_SECRET": "s", f"LEDGER_WEBHOOK_STRIPE_{end}": value}
    with pytest.raises(SettingsError, match=f"LEDGER_WEBHOOK_STRIPE_{end} must be"):
        load_settings(env)
