"""Migrations: once each whoever starts them, in order, never changed afterwards, all or nothing."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ledger.store import migrate as module
from ledger.store.migrate import Migration, MigrationError, migrate, migrations

ROOT = Path(__file__).resolve().parents[3]
STARTER = """
import json, sys
from ledger.store.migrate import migrate
print(json.dumps([migration.number for migration in migrate(sys.argv[1])]))
"""


def listed(database: str) -> list[tuple[int, str, str]]:
    with psycopg.connect(database) as connection:
        return connection.execute(
            "SELECT number, name, checksum FROM migrations ORDER BY number"
        ).fetchall()


def catalog(database: str) -> list[tuple[Any, ...]]:
    """Every column, constraint, index, trigger and function of the schema, as text."""
    with psycopg.connect(database) as connection:
        return connection.execute(
            """
            SELECT 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                a.attnotnull::text, coalesce(pg_get_expr(d.adbin, d.adrelid), '')
            FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
            WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0
                AND c.relkind IN ('r', 'p')
            UNION ALL
            SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid),
                '', ''
            FROM pg_constraint WHERE connamespace = 'public'::regnamespace
            UNION ALL
            SELECT 'index', tablename, indexname, indexdef, '', ''
            FROM pg_indexes WHERE schemaname = 'public'
            UNION ALL
            SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid), '', ''
            FROM pg_trigger WHERE NOT tgisinternal
            UNION ALL
            SELECT 'function', proname, pg_get_functiondef(oid), '', '', ''
            FROM pg_proc WHERE pronamespace = 'public'::regnamespace
            ORDER BY 1, 2, 3
            """
        ).fetchall()


def test_each_is_recorded_with_the_checksum_of_its_file(empty_database: str) -> None:
    assert migrate(empty_database) == migrations()
    assert listed(empty_database) == [(m.number, m.name, m.checksum) for m in migrations()]
    assert migrate(empty_database) == []


def test_six_processes_that_start_at_once_run_each_one_time(empty_database: str) -> None:
    """All six wait for the same lock before any may begin."""
    with psycopg.connect(empty_database, autocommit=True) as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", [module._LOCK])
        starters = [
            subprocess.Popen(
                [sys.executable, "-c", STARTER, empty_database],
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
            for _ in range(6)
        ]
        waiting = threading.Event()
        while not waiting.wait(0.01):
            row = holder.execute(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            ).fetchone()
            assert all(starter.poll() is None for starter in starters), "one did not wait"
            if row == (6,):
                waiting.set()
        holder.execute("SELECT pg_advisory_unlock(%s)", [module._LOCK])
    run = [json.loads(starter.communicate(timeout=60)[0]) for starter in starters]
    assert [starter.returncode for starter in starters] == [0] * 6
    assert sorted(run) == [[]] * 5 + [[m.number for m in migrations()]]
    assert listed(empty_database) == [(m.number, m.name, m.checksum) for m in migrations()]


def test_a_file_changed_after_it_ran_is_refused(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE migrations SET checksum = 'other' WHERE number = 1")
    with pytest.raises(MigrationError, match=r"0001_log\.sql was changed after it ran"):
        migrate(database)


def test_a_database_of_a_newer_version_is_refused(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO migrations (number, name, checksum) VALUES (999, '0999_new.sql', '')"
        )
    with pytest.raises(MigrationError, match=r"migration 999, .*: run a newer version"):
        migrate(database)


def test_a_migration_that_fails_leaves_nothing_and_frees_the_lock(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = migrations()
    number = len(known) + 1
    good = Migration(number, "good.sql", "CREATE TABLE good (i int);")
    bad = Migration(number + 1, "bad.sql", "CREATE TABLE bad (i int); SELECT 1 / 0;")
    monkeypatch.setattr(module, "_read", lambda: iter([*known, good, bad]))
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(database)
    assert [number for number, _, _ in listed(database)] == [*range(1, number), number]
    with psycopg.connect(database) as connection:
        tables = connection.execute(
            "SELECT to_regclass('good')::text, to_regclass('bad')"
        ).fetchone()
        assert tables == ("good", None)
    monkeypatch.setattr(module, "_read", lambda: iter([*known, good]))
    assert migrate(database) == []


def test_numbers_have_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module, "_read", lambda: iter([Migration(1, "a", ""), Migration(3, "b", "")])
    )
    with pytest.raises(MigrationError, match="1, 2, 3"):
        migrations()


def test_step_by_step_gives_the_same_schema_as_all_at_once(
    empty_database: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By every version that ever was, one after the other."""
    at_once = catalog(database)
    known = migrations()
    for upto in range(1, len(known) + 1):
        monkeypatch.setattr(module, "_read", lambda upto=upto: iter(known[:upto]))
        assert migrate(empty_database) == known[upto - 1 : upto]
    assert catalog(empty_database) == at_once
    assert len(at_once) > 100


def test_every_key_begins_with_the_partition(database: str) -> None:
    """So that the schema can be spread over nodes (design D3)."""
    with psycopg.connect(database) as connection:
        keys = connection.execute(
            """
            SELECT i.indrelid::regclass::text, a.attname
            FROM pg_index i
                JOIN pg_class c ON c.oid = i.indrelid
                JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
            WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace
            """
        ).fetchall()
    tables = {table for table, _ in keys}
    assert {"events", "names", "permits", "decisions", "alerts", "keys"} <= tables
    assert {table for table, first in keys if first != "partition"} == {"migrations"}
