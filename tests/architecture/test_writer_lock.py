"""One place takes the writer lock: the database's function `take_writer_lock`, with time limits."""

import re
from collections.abc import Iterator

import pytest

from tests.architecture.tree import PACKAGES, Source, assert_kept, at, broken, sources

ONE_PLACE = "ledger/store/sql/migrations/0006_writer_lock.sql"
REPLACED = "ledger/store/sql/migrations/0002_writer.sql"
"""Its function is dropped by the one place; a migration that ran cannot be changed."""
_LOCKED = re.compile(
    r"\bpartitions\b[^;]*?\bFOR\s+(?:NO\s+KEY\s+)?(?:UPDATE|SHARE|KEY\s+SHARE)\b"
    r"|\bLOCK\s+(?:TABLE\s+)?partitions\b"
    r"|\b(?:UPDATE|DELETE\s+FROM|TRUNCATE(?:\s+TABLE)?)\s+partitions\b",
    re.IGNORECASE,
)


def locks_partitions(source: Source) -> Iterator[str]:
    """Every statement that locks the row of `partitions`, in a .sql file or in code."""
    if source.path in (ONE_PLACE, REPLACED):
        return
    text = re.sub(r"COMMENT ON TABLE partitions IS '[^']*'", "", source.text)
    for found in _LOCKED.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield at(source, line, "the writer lock is taken by take_writer_lock() only")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 FROM partitions WHERE partition = 0 FOR UPDATE",
        "select from partitions p for update of p nowait",
        "SELECT 1\nFROM partitions\nFOR NO KEY UPDATE",
        "SELECT FROM partitions FOR SHARE",
        "TABLE partitions FOR UPDATE",
        "LOCK TABLE partitions",
        "UPDATE partitions SET partition = 0",
        'run("SELECT FROM partitions FOR UPDATE")',
    ],
)
def test_another_lock_is_found(text: str) -> None:
    assert len(broken(locks_partitions, text, "ledger/store/sql/sample.sql")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT take_writer_lock()",
        "SELECT 1 FROM partitions",
        "SELECT 1 FROM partitions; SELECT 1 FROM pages FOR UPDATE",
        "CREATE TABLE partitions (partition integer)",
        "COMMENT ON TABLE partitions IS 'SELECT ... FOR UPDATE, never updated.';",
    ],
)
def test_other_statements_are_left_alone(text: str) -> None:
    assert broken(locks_partitions, text, "ledger/store/sql/sample.sql") == []


@pytest.mark.parametrize("folder", PACKAGES)
def test_no_code_takes_the_writer_lock(folder: str) -> None:
    assert_kept(locks_partitions, sources(folder))


@pytest.mark.parametrize("folder", ["ledger", "projections"])
def test_no_other_statement_takes_the_writer_lock(folder: str) -> None:
    assert_kept(locks_partitions, sources(folder, ".sql"))


def test_the_one_place_takes_it_once() -> None:
    (place,) = [s for s in sources("ledger", ".sql") if s.path == ONE_PLACE]
    assert len(_LOCKED.findall(place.text)) == 1
    assert "DROP FUNCTION begin_batch" in place.text
