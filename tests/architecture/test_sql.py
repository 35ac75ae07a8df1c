"""SQL lives in .sql files, where it can be read, explained and reviewed as SQL.

Short statements that steer a session (BEGIN, COMMIT, ROLLBACK, SET, LISTEN) may stand in code.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.tree import (
    PACKAGES,
    Source,
    assert_kept,
    at,
    broken,
    is_bare_string,
    sources,
)

OBJECTS = (
    "TABLE|(?:UNIQUE )?INDEX|(?:MATERIALIZED )?VIEW|SCHEMA|DATABASE|ROLE|USER|SEQUENCE|TYPE"
    "|DOMAIN|FUNCTION|PROCEDURE|TRIGGER|EXTENSION|PUBLICATION|SUBSCRIPTION|SYSTEM"
)
STATEMENTS = "|".join(
    [
        r"SELECT\b.*\bFROM\b",
        r"INSERT INTO\b",
        r"UPDATE\b.*\bSET\b",
        r"DELETE FROM\b",
        r"MERGE INTO\b",
        rf"(?:CREATE|CREATE OR REPLACE|ALTER|DROP) (?:TEMP |TEMPORARY |UNLOGGED )?(?:{OBJECTS})\b",
        r"TRUNCATE (?:TABLE )?[\w{]",
        r"LOCK TABLE\b",
        r"COPY\b.*\b(?:FROM|TO) STD(?:IN|OUT)\b",
        r"FOR (?:NO KEY )?(?:UPDATE|SHARE)\b",
    ]
)
# These say SQL only where a string begins with them.
OPENINGS = r"SELECT |WITH \w+ (?:\([^)]*\) )?AS\b.*\(|VALUES ?\("
# Capitals are SQL wherever they stand. Small letters are where the string begins with them, so
# that "Select a customer from the list" and "nothing to delete from it" stay sentences.
SQL = re.compile(rf"\b(?:{STATEMENTS})|^ ?(?:{OPENINGS})|^ ?(?:{STATEMENTS.lower()})")


def holds_sql(source: Source) -> Iterator[str]:
    """Every string that is a statement: plain, in bytes, with values set in, or put together."""
    docstrings = {id(node.value) for node in ast.walk(source.tree) if is_bare_string(node)}
    told = set()
    for node in ast.walk(source.tree):
        text = None if id(node) in docstrings else literal(node)
        if text is None or not isinstance(node, ast.expr) or node.lineno in told:
            continue
        flat = re.sub(r"\s+", " ", text)
        if SQL.search(flat):
            told.add(node.lineno)
            yield at(source, node, f"SQL belongs in a .sql file, not in a string: {flat[:60]!r}")


def literal(node: ast.AST) -> str | None:
    """What a string expression says, with {} for what only the run knows; None for others."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Constant(value=bytes(raw)):
            return raw.decode("latin-1")
        case ast.JoinedStr(values=parts):
            return "".join(literal(part) or "{}" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = literal(left), literal(right)
            return None if sides == (None, None) else "".join(side or "{}" for side in sides)
    return None


@pytest.mark.parametrize(
    "text",
    [
        'rows = run("SELECT id FROM events")',
        'rows = run("SELECT 1")',
        'rows = run("select id from events")',
        'rows = run(b"SELECT id FROM events")',
        'run("insert into events values (1)")',
        'run("INSERT INTO events DEFAULT VALUES")',
        'run("UPDATE events SET a = 1")',
        'run("UPDATE events " "SET a = 1")',
        'run("DELETE FROM events")',
        'run("CREATE TABLE t (id int)")',
        'run("create unique index i on t (id)")',
        'run("ALTER TABLE t ADD c int")',
        'run("DROP SCHEMA s CASCADE")',
        'run("TRUNCATE events")',
        'run("LOCK TABLE events")',
        'run("COPY events FROM STDIN")',
        'run("WITH a AS (VALUES (1)) TABLE a")',
        'run("TABLE partitions FOR UPDATE")',
        'run(f"SELECT {columns} FROM {table}")',
        'run(f"TRUNCATE {table}")',
        'run("UPDATE " + table + " SET a = 1")',
        'run("DELETE FROM %s" % table)',
        'def f(q="DELETE FROM events"):\n    return q',
        'run("""\n    SELECT id\n    FROM events\n    """)',
    ],
)
def test_sql_in_a_string_is_found_once(text: str) -> None:
    assert len(broken(holds_sql, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        'run("BEGIN")\nrun("COMMIT")\nrun("ROLLBACK")',
        'run("SET lock_timeout = 500")\nrun("SET LOCAL synchronous_commit = on")',
        'run("LISTEN wake_up")',
        'def f():\n    """SELECT the best FROM the list, then INSERT INTO it."""',
        'size: int\n"""How many rows a SELECT takes FROM the log."""',
        'help = "Select a customer from the list"',
        'help = "Updates the set of stages"',
        'help = "nothing to delete from the list"',
        'name = "select_from.sql"',
        'query = load("select_events")',
    ],
)
def test_other_strings_are_left_alone(text: str) -> None:
    assert broken(holds_sql, text) == []


@pytest.mark.parametrize("folder", PACKAGES)
def test_no_sql_in_python(folder: str) -> None:
    assert_kept(holds_sql, sources(folder))
