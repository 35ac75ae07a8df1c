"""No notes to finish something later: what is missing goes to the issue tracker, not the code."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from tests.architecture.tree import (
    EVERYTHING,
    Source,
    assert_kept,
    at,
    broken,
    is_bare_string,
    sources,
)

# Spelt so that this file does not hold what it looks for. Three crosses are also the currency
# code for "no currency", so they count only where they open a remark or a colon follows.
MARKERS = re.compile(r"\b(TO[D]O|FIX[M]E)\b|^\W*(X{3})\b|\b(X{3}):", re.IGNORECASE)


def is_unfinished(source: Source) -> Iterator[str]:
    """Every marker in a comment or docstring; other strings are data."""
    for line, text in remarks(source):
        if marker := MARKERS.search(text):
            yield at(source, line, f"{marker[0].strip()!r}: finish it, or take it to an issue")


def remarks(source: Source) -> Iterator[tuple[int, str]]:
    """The comments and docstrings of a Python file, all lines of any other, with line numbers."""
    if not source.path.endswith(".py"):
        yield from enumerate(source.text.splitlines(), start=1)
        return
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(source.tree):
        if is_bare_string(node):
            for offset, text in enumerate(ast.unparse(node.value).split("\\n")):
                yield node.lineno + offset, text


@pytest.mark.parametrize("word", ["TO" + "DO", "to" + "do", "FIX" + "ME", "X" * 3])
@pytest.mark.parametrize(
    "text", ["x = 1  # {}", "x = 1  # {}: later", '"""{}: later"""', "def f():\n    '''{} f'''"]
)
def test_a_marker_is_found(text: str, word: str) -> None:
    assert len(broken(is_unfinished, text.format(word))) == 1


def test_a_marker_in_sql_is_found() -> None:
    text = "CREATE TABLE t ();\n-- " + "TO" + "DO: columns"
    (breach,) = broken(is_unfinished, text, path="ledger/store/sql/t.sql")
    assert breach.startswith("ledger/store/sql/t.sql:2: ")


@pytest.mark.parametrize(
    "text",
    ["code = '" + "X" * 3 + "'", "# The code " + "X" * 3 + " stands for no currency.", "# Methods"],
)
def test_data_is_left_alone(text: str) -> None:
    assert broken(is_unfinished, text) == []


@pytest.mark.parametrize("folder", EVERYTHING)
def test_nothing_is_unfinished(folder: str) -> None:
    assert_kept(is_unfinished, sources(folder))


@pytest.mark.parametrize("folder", ["ledger", "projections"])
def test_no_sql_is_unfinished(folder: str) -> None:
    assert_kept(is_unfinished, sources(folder, suffix=".sql"))
