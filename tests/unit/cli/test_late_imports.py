"""A small command starts fast: it imports nothing that it does not use."""

import importlib
import subprocess
import sys
from pathlib import Path

import click
import pytest

from api.cli.main import SECTIONS, main
from api.cli.session import EXPECTED, OTHER_TABLES

_HEAVY = ("fastapi", "starlette", "uvicorn", "eventsourcing", "apprise", "babel", "stripe")
_OF_A_DATABASE = ("psycopg", "psycopg_pool", "asyncio", "pydantic", "rich")


def _loaded(code: str) -> set[str]:
    """The top-level packages that a new interpreter has loaded after this code."""
    told = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{told}"], check=True, capture_output=True, text=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_help_imports_no_command() -> None:
    code = "from click.testing import CliRunner\nfrom api.cli.main import main\n"
    code += "assert 'Run a ledger:' in CliRunner().invoke(main, ['--help']).output"
    assert not _loaded(code) & {*_HEAVY, *_OF_A_DATABASE}


def test_keys_create_imports_no_service() -> None:
    code = "import api.cli.keys, api.settings.environment as e\n"
    code += "e.load_settings({'LEDGER_SECRET': 'x' * 16, 'LEDGER_CONFIG': '', 'HOME': '/'})"
    loaded = _loaded(code)
    assert not loaded & {*_HEAVY, "psycopg_pool", "rich"}
    assert "pydantic" in loaded


def test_completion_imports_no_command() -> None:
    code = "import click\nfrom api.cli.main import main\n"
    code += "found = main.shell_complete(click.Context(main), 'ke')\n"
    code += "assert [item.value for item in found] == ['keys']"
    assert not _loaded(code) & {*_HEAVY, *_OF_A_DATABASE}


def test_the_list_says_of_each_command_what_it_says_of_itself() -> None:
    context = click.Context(main)
    for commands in SECTIONS.values():
        for name, late in commands.items():
            command = main.get_command(context, name)
            assert command is not None
            assert (command.name, command.get_short_help_str(500)) == (name, late.what)


@pytest.mark.parametrize("name", sorted(EXPECTED | OTHER_TABLES))
def test_an_error_that_is_named_exists_under_that_name(name: str) -> None:
    module, _, kind = name.rpartition(".")
    found = getattr(importlib.import_module(module), kind)
    assert issubclass(found, Exception)
    assert f"{found.__module__}.{found.__qualname__}" == name


@pytest.mark.parametrize(
    ("words", "word", "completed"),
    [
        ("send-ledger pa", "1", "pause"),
        ("send-ledger incident aff", "2", "affected"),
        ("send-ledger permits --state unk", "3", "unknown"),
    ],
)
def test_the_shell_completes_commands_and_values(words: str, word: str, completed: str) -> None:
    env = {"_SEND_LEDGER_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": word}
    program = Path(sys.executable).with_name("send-ledger")
    done = subprocess.run([program], env=env, check=True, capture_output=True, text=True)
    assert f"plain,{completed}" in done.stdout.splitlines()
