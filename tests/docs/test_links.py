"""What the documentation names is there: files, headings, tests, cases, paths, commands."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from api.cli.main import main
from api.http.app import openapi_of
from api.process.assembly import build_app
from api.settings.environment import load_settings

_ROOT = Path(__file__).resolve().parents[2]
_PAGES = sorted(
    page
    for folder, pattern in (("", "*.md"), ("docs", "**/*.md"), ("clients", "**/*.md"))
    for page in (_ROOT / folder).glob(pattern)
    if "node_modules" not in page.parts
)
_CASES = _ROOT / "tests" / "cases" / "cases.yaml"


def _named(page: Path) -> str:
    return page.relative_to(_ROOT).as_posix()


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", _PAGES, ids=_named)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert not anchor or anchor in _anchors(linked), target


@pytest.mark.parametrize("page", _PAGES, ids=_named)
def test_tests_that_are_named_exist(page: Path) -> None:
    for named in re.findall(r"`(tests/[\w./]+)`", page.read_text(encoding="utf-8")):
        assert (_ROOT / named).exists() or "/acme" in named, named


def _rows(page: str) -> Iterator[list[str]]:
    """The rows of a page's only table, without its head."""
    lines = (_ROOT / page).read_text(encoding="utf-8").splitlines()
    table = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    yield from ([cell.strip() for cell in row] for row in table[2:])


def test_each_cause_of_duplicates_names_a_test_or_case_that_exists() -> None:
    pages = (_CASES, _CASES.with_name("cases-2.yaml"))
    read = [yaml.safe_load(page.read_text(encoding="utf-8")) for page in pages]
    cases = {case["id"] for page in read for case in page}
    rows = list(_rows("docs/duplicates.md"))
    assert len(rows) >= 10
    for cause, *_, test in rows:
        paths = [_ROOT / named for named in re.findall(r"`(tests/[\w./]+)`", test)]
        assert paths, cause
        for path in paths:
            files = [path] if path.is_file() else list(path.rglob("test_*.py"))
            assert any("def test_" in file.read_text(encoding="utf-8") for file in files), cause
        named = [name for name in re.findall(r"`([\w-]+)`", test) if "-" in name]
        assert set(named) <= cases, cause
        assert not named or "tests/cases" in test, cause


def _commands(group: click.Group, before: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


def _everything() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in _PAGES)


def test_every_command_is_documented_and_none_that_is_not_there() -> None:
    commands, text = set(_commands(main)), _everything()
    for command in commands:
        assert f"send-ledger {command}" in text, command
    for words in re.findall(r"send-ledger ([a-z]+(?: [a-z]+)?)(?= |\)|`|$)", text, re.MULTILINE):
        first = words.split()[0]
        assert {words, first} & (commands | set(main.list_commands(click.Context(main)))), words


def test_every_path_of_the_interface_is_in_the_documentation() -> None:
    env = {"LEDGER_SECRET": "a secret of sixteen characters", "LEDGER_DATA_DIR": "/nowhere"}
    described = openapi_of(build_app(load_settings(env), "dbname=none", True))
    paths = {re.sub(r"\{\w+\}", "{}", path) for path in described["paths"]}
    text = re.sub(r"\{\w+\}", "{}", _everything())
    missing = {path for path in paths if path not in text}
    assert not missing
