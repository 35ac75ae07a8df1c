"""Settings that are not right stop the start with a line that names them, and never show values."""

from pathlib import Path

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
        ("LEDGER_TIME_ZONE", "Mars/Base", "'Mars/Base' is not an IANA time zone"),
        ("LEDGER_MESSAGE_ID_DOMAIN", "hunter2 @x", "must be a domain name"),
        ("LEDGER_SECRET", "hunter2", "at least 16 characters"),
        ("LEDGER_CONFIG", "/no/such/ledger.toml", "does not exist"),
        ("LEDGER_WEBHOOK_STRIP_SECRET", "hunter2", "is LEDGER_WEBHOOK_STRIPE_SECRET meant?"),
        ("LEDGER_WEBHOOK_STRIPE_SECRETS", "hunter2", "is LEDGER_WEBHOOK_STRIPE_SECRET meant?"),
        ("LEDGER_SYNC", "hunter2", "is LEDGER_REQUIRE_SYNC meant?"),
        ("LEDGER_DATABSE_URL", "hunter2", "is LEDGER_DATABASE_URL meant?"),
        ("LEDGER_", "hunter2", "LEDGER_ is not a setting"),
        ("LEDGER_RECURLY_API_KEYS", "hunter2", "is LEDGER_RECURLY_API_KEY meant?"),
    ],
)
def test_it_is_named(name: str, value: str, told: str) -> None:
    with pytest.raises(SettingsError) as stopped:
        load_settings(_BASE | {name: value})
    assert name in str(stopped.value)
    assert told in str(stopped.value)
    assert "hunter2" not in str(stopped.value)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('time_zone = "Mars/Base"', "policy.time_zone: 'Mars/Base' is not an IANA time zone"),
        ("permit_minutes = 0", "policy.permit_minutes must be a whole number from 1 to 1440"),
        ("stages = [{days = 3}]", "policy.stages: a stage has a name, days"),
        ("smallest_amount_to_dun = {XXY = 1}", "policy.smallest_amount_to_dun: 'XXY' is not"),
        ("permit_minute = 5", "policy.permit_minute is not a setting"),
    ],
)
def test_a_policys_error_names_its_setting_and_file(tmp_path: Path, table: str, told: str) -> None:
    config = tmp_path / "ledger.toml"
    config.write_text(f"[policy]\n{table}\n", encoding="utf-8")
    with pytest.raises(SettingsError) as stopped:
        load_settings(_BASE | {"LEDGER_CONFIG": str(config)})
    assert str(stopped.value).startswith(f"{config}: {told}")


@pytest.mark.parametrize(("end", "value"), [("MODE", "prod"), ("REMINDERS", "no")])
def test_a_webhooks_choice_is_one_of_two(end: str, value: str) -> None:
    env = _BASE | {"LEDGER_WEBHOOK_STRIPE_SECRET": "s", f"LEDGER_WEBHOOK_STRIPE_{end}": value}
    with pytest.raises(SettingsError, match=f"LEDGER_WEBHOOK_STRIPE_{end} must be"):
        load_settings(env)


def test_all_misspelt_names_are_told_at_once_and_no_secret_is_made(tmp_path: Path) -> None:
    env = {"LEDGER_DATA_DIR": str(tmp_path), "LEDGER_SECRT": "x", "LEDGER_ZEBRA_QUUX": "y"}
    with pytest.raises(SettingsError) as stopped:
        load_settings(env)
    assert str(stopped.value) == (
        "LEDGER_SECRT is not a setting (is LEDGER_SECRET meant?); "
        "LEDGER_ZEBRA_QUUX is not a setting; docs/settings.md lists the settings"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    [
        "LEDGER_PORT",
        "LEDGER_SERVICE_HOST",
        "LEDGER_SERVICE_PORT_HTTP",
        "LEDGER_DB_PORT_5432_TCP_ADDR",
        "LEDGER_URL",
        "LEDGER_KEY",
        "LEDGER_WEBHOOK_STRIPE_MODE",
        "LEDGER_RECURLY_API_URL",
    ],
)
def test_what_kubernetes_sets_and_settings_without_effect_are_no_misspelling(name: str) -> None:
    assert load_settings(_BASE | {name: ""}).data_dir == Path("/data")
