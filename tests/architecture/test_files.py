"""Every file says what it is about, is named for it, and is short enough to hold only that."""

from collections.abc import Iterator

import pytest

from tests.architecture.tree import (
    EVERYTHING,
    ROOT,
    Source,
    assert_kept,
    at,
    broken,
    is_bare_string,
    sources,
)

MOST_LINES = 400
EMPTY_NAMES = frozenset(
    {"common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"}
)


def opens_without_docstring(source: Source) -> Iterator[str]:
    """A file whose first line is not the start of a docstring with words in it."""
    first = source.tree.body[0] if source.tree.body else None
    if first is None or not is_bare_string(first) or first.lineno != 1:
        yield at(source, 1, "begin the file with a docstring that says what it is about")
    elif not source.text.splitlines()[0].strip("rR\"' "):
        yield at(source, 1, "say what the file is about on its first line")


def is_named_for_nothing(source: Source) -> Iterator[str]:
    """A file or folder with a name that anything would fit."""
    for part in source.path.removesuffix(".py").split("/"):
        if part.lower() in EMPTY_NAMES:
            yield at(source, 1, f"'{part}' says nothing; name it after the one thing that it holds")


def is_too_long(source: Source) -> Iterator[str]:
    """A file with more lines than a reader keeps in mind."""
    lines = len(source.text.splitlines())
    if lines > MOST_LINES:
        yield at(source, MOST_LINES, f"{lines} lines, at most {MOST_LINES}: split it by concept")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "import os",
        "# A comment\n'''Then a docstring.'''",
        "x = 1\n'''Not the first statement.'''",
        '"""   """',
        '"""\nStarts on the second line.\n"""',
        'f"""Not a docstring, as it is worked out at run time."""',
    ],
)
def test_a_missing_docstring_is_found(text: str) -> None:
    assert len(broken(opens_without_docstring, text)) == 1


@pytest.mark.parametrize(
    "text", ['"""One line."""', "'''One line.'''\nx = 1", 'r"""A raw \\d one."""']
)
def test_a_docstring_on_the_first_line_is_enough(text: str) -> None:
    assert broken(opens_without_docstring, text) == []


@pytest.mark.parametrize(
    "path",
    [
        "ledger/utils.py",
        "api/helpers/mail.py",
        "tests/common.py",
        "api/Manager.py",
        "bench/misc.py",
    ],
)
def test_an_empty_name_is_found(path: str) -> None:
    assert len(broken(is_named_for_nothing, "", path)) == 1


@pytest.mark.parametrize("path", ["ledger/domain/money.py", "tests/support/postgres.py"])
def test_a_telling_name_is_left_alone(path: str) -> None:
    assert broken(is_named_for_nothing, "", path) == []


@pytest.mark.parametrize(("lines", "breaches"), [(400, 0), (401, 1)])
def test_length_is_counted_in_lines(lines: int, breaches: int) -> None:
    assert len(broken(is_too_long, "x = 1\n" * lines)) == breaches


@pytest.mark.parametrize("folder", EVERYTHING)
def test_every_file_opens_with_a_docstring(folder: str) -> None:
    assert_kept(opens_without_docstring, sources(folder))


@pytest.mark.parametrize("folder", EVERYTHING)
def test_every_file_is_named_for_what_it_holds(folder: str) -> None:
    assert_kept(is_named_for_nothing, sources(folder))


@pytest.mark.parametrize("folder", EVERYTHING)
def test_no_file_is_too_long(folder: str) -> None:
    assert_kept(is_too_long, sources(folder))


def test_tests_are_namespace_packages() -> None:
    """With an __init__.py here or there pytest and mypy would name modules in two ways."""
    assert [str(path) for path in (ROOT / "tests").rglob("__init__.py")] == []
