"""The page of the architecture, its pictures included, names only what the tree has."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.architecture.tree import PACKAGES, ROOT

_PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
_FILE = re.compile(
    r"(?<![\w/])(?:ledger|projections|api|bench|clients|tests)/[\w./]*|\bpyproject\.toml\b"
)
_FUNCTION = re.compile(r"\b([A-Za-z_]\w*(?:\.\w+)?)\(\)")
"""Functions are written with their brackets: `prepare()`, `Engine.submit()`."""
_CLASS = re.compile(r"`([A-Z][a-z]\w+)`")


def _files(text: str) -> set[str]:
    return {name.rstrip(".") for name in _FILE.findall(text)}


def _missing_files(text: str) -> Iterator[str]:
    for name in sorted(_files(text)):
        path = ROOT / name
        if not path.exists() or path.is_dir() != name.endswith("/"):
            yield name


@cache
def _defined(file: str) -> frozenset[str]:
    """The names of a file's functions and classes, methods as `Class.method`."""
    found: set[str] = set()
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        if isinstance(node, functions | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            members = [member for member in node.body if isinstance(member, functions)]
            found.update(f"{node.name}.{member.name}" for member in members)
    return frozenset(found)


def _missing_names(text: str) -> Iterator[str]:
    """Functions and classes that are in none of the files that the text names."""
    files = [f for f in _files(text) if f.endswith(".py") and (ROOT / f).is_file()]
    known: set[str] = set().union(*(_defined(file) for file in files))
    named = {*_FUNCTION.findall(text), *_CLASS.findall(text)}
    yield from sorted(named - known)


def test_every_file_of_the_page_exists() -> None:
    assert len(_files(_PAGE)) > 60
    assert list(_missing_files(_PAGE)) == []


def test_every_function_and_class_is_in_a_file_of_the_page() -> None:
    assert len(_FUNCTION.findall(_PAGE)) > 50
    assert list(_missing_names(_PAGE)) == []


@pytest.mark.parametrize(
    "text",
    [
        "`api/nothing.py` is no file",
        "`ledger/nothing/` is no folder",
        "`ledger/domain` is a folder without its slash",
        'flowchart\n  a["ledger/store/nothing.py<br/>begin"]',
    ],
)
def test_a_missing_file_is_found(text: str) -> None:
    assert len(list(_missing_files(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "`Engine.nothing()` in `ledger/application/engine.py`",
        "`prepare()` is not in `ledger/application/engine.py`",
        "`Nothing` in `ledger/application/engine.py`",
        'a["ledger/application/engine.py<br/>nothing()"]',
    ],
)
def test_a_missing_function_is_found(text: str) -> None:
    assert len(list(_missing_names(text))) == 1


def test_every_package_is_on_the_page() -> None:
    for package in PACKAGES:
        assert f"{package}/" in _PAGE
