"""Imports follow the contracts of pyproject.toml: layers point down, the domain is pure."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.architecture.tree import PACKAGES, ROOT, Source, assert_kept, at, broken, sources

LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"
EMPTY_TREE = {
    path.relative_to(ROOT).as_posix(): ""
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
}
"""The project's files with nothing in them."""


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Checks the packages of a folder against the project's own contracts."""
    return subprocess.run(
        [
            sys.executable,
            "-c",
            LINT_IMPORTS,
            str(ROOT / "pyproject.toml"),
            "--no-cache",
            "--no-logo",
        ],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def write_tree(folder: Path, files: Mapping[str, str]) -> None:
    """Lays empty packages of the project's shape, and the given files over them."""
    for name, text in {**EMPTY_TREE, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def takes_more_than_the_domain_model(source: Source) -> Iterator[str]:
    """Imports of the eventsourcing library in ledger.domain other than eventsourcing.domain.

    The contracts see a library as one module, so they cannot tell its parts apart.
    """
    for node in ast.walk(source.tree):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "eventsourcing":
            modules = [f"eventsourcing.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
        for module in modules:
            if module.partition(".")[0] == "eventsourcing" and module != "eventsourcing.domain":
                assert isinstance(node, ast.stmt)
                yield at(source, node, f"{module}: the domain may use eventsourcing.domain only")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("ledger/store/log/recorder.py", "import api"),
        ("ledger/application/engine.py", "import ledger.store"),
        ("ledger/domain/invoice.py", "from ledger.application import engine"),
        ("projections/due.py", "def late():\n    import api"),
        ("ledger/domain/invoice.py", "import os"),
        ("ledger/domain/invoice.py", "from time import time"),
        ("ledger/domain/invoice.py", "import urllib.parse"),
        ("ledger/domain/invoice.py", "from pydantic import BaseModel"),
        ("ledger/__init__.py", "import api"),
        ("ledger/elsewhere.py", ""),
        ("api/elsewhere/__init__.py", ""),
        ("api/claims/claiming.py", "import api.http"),
        ("api/claims/claiming.py", "from api.incidents import report"),
        ("api/http/app.py", "import api.process"),
        ("api/process/serving.py", "import api.cli"),
        ("api/webhooks/intake.py", "from fastapi import Request"),
        ("api/imports/sends_import.py", "import click"),
        ("api/webhooks/providers/stripe.py", "from api.webhooks import intake"),
        ("ledger/store/log/writer.py", "from ledger.store.looking_back import audit"),
    ],
)
def test_a_broken_contract_is_found(tmp_path: Path, path: str, text: str) -> None:
    write_tree(tmp_path, {path: text})
    outcome = lint_imports(tmp_path)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert "BROKEN" in outcome.stdout
    assert path.removesuffix(".py").removesuffix("/__init__").split("/")[-1] in outcome.stdout


def test_imports_that_point_down_are_kept(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "ledger/domain/money.py": "import eventsourcing.domain\nimport zoneinfo",
            "ledger/application/engine.py": "from ledger.domain import money\nimport asyncio",
            "ledger/store/log/recorder.py": "from ledger.application import engine\nimport psycopg",
            "projections/due.py": "from ledger.store.log import recorder",
            "api/http/app.py": "from projections import due\nimport fastapi",
        },
    )
    outcome = lint_imports(tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_the_project_keeps_its_contracts() -> None:
    outcome = lint_imports(ROOT)
    assert outcome.returncode == 0, "\n" + outcome.stdout + outcome.stderr


@pytest.mark.parametrize(
    "text",
    [
        "import eventsourcing",
        "import eventsourcing.persistence",
        "from eventsourcing import application",
        "from eventsourcing.utils import get_topic",
        "def late():\n    import eventsourcing.postgres",
    ],
)
def test_another_part_of_the_library_is_found(text: str) -> None:
    assert len(broken(takes_more_than_the_domain_model, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import eventsourcing.domain",
        "from eventsourcing import domain",
        "from eventsourcing.domain import Aggregate, event",
        "from . import eventsourcing",
    ],
)
def test_the_domain_model_is_left_alone(text: str) -> None:
    assert broken(takes_more_than_the_domain_model, text) == []


def test_the_domain_uses_the_domain_model_only() -> None:
    assert_kept(takes_more_than_the_domain_model, sources("ledger/domain"))
