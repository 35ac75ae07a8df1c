"""The page of the settings, and the compose file, name every setting that the program reads."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import yaml

from api.settings.environment import load_settings
from api.webhooks.registry import provider_names
from ledger.domain.policy import Policy, parse_policy

_ROOT = Path(__file__).resolve().parents[2]
_PAGE = (_ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
_OF_THE_IMAGE = {"LEDGER_DATA_DIR", "LEDGER_ANNOUNCE"}
"""What a container has no use for: its folder is fixed, its address known."""


class _Asked(dict[str, str]):
    """An environment that notes which variables somebody looked for."""

    def __init__(self, given: dict[str, str]) -> None:
        super().__init__(given)
        self.names: set[str] = set()

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        self.names.add(name)
        return super().get(name, default)


def _read_by_the_program() -> set[str]:
    secrets = {f"LEDGER_WEBHOOK_{name.upper()}_SECRET": "s" for name in provider_names()}
    given = {"LEDGER_SECRET": "a secret of sixteen characters", "LEDGER_RECURLY_API_KEY": "k"}
    env = _Asked(secrets | given)
    load_settings(env)
    assert len(env.names) > 40
    return env.names


def _without_provider(name: str) -> str:
    return re.sub(r"^(LEDGER_WEBHOOK_)[A-Z]+_", r"\1<PROVIDER>_", name)


def _rows() -> Iterator[str]:
    """The variables in the first column of the page's table."""
    for line in _PAGE.splitlines():
        if line.startswith("| `LEDGER_"):
            yield from re.findall(r"`(LEDGER_[A-Z_<>]+)`", line.split("|")[1])


def test_the_page_has_a_row_for_each_setting_and_for_no_other() -> None:
    assert sorted(_rows()) == sorted({_without_provider(name) for name in _read_by_the_program()})


def test_the_compose_file_passes_each_setting_on() -> None:
    compose = yaml.safe_load((_ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    for service in ("migrate", "api"):
        passed = set(compose["services"][service]["environment"])
        assert _read_by_the_program() - passed == _OF_THE_IMAGE


def test_the_policy_on_the_page_is_whole_and_has_the_defaults() -> None:
    found = re.search(r"```toml\n(\[policy\].*?)```", _PAGE, re.DOTALL)
    assert found is not None
    shown = tomllib.loads(found[1])["policy"]
    named = set(shown) | set(re.findall(r"^# (\w+) = ", found[1], re.MULTILINE))
    assert named == {field.name for field in fields(Policy)}
    policy, defaults = parse_policy(shown), parse_policy({})
    differing = {
        f.name for f in fields(Policy) if getattr(policy, f.name) != getattr(defaults, f.name)
    }
    assert differing == {"message_id_domain", "smallest_amount_to_dun"}
