"""The database itself keeps the log as it is: by triggers, and by an owner apart from its user."""

import asyncio

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ledger.domain.policy import Policy
from ledger.store.embedded.cluster import ROLE, SUPERUSER
from ledger.store.looking_back.audit import verify
from ledger.store.migrate import migrate
from ledger.store.setup import prepare_ledger
from projections.models import MODELS
from projections.rebuild import rebuild
from projections.schema import prepare, prepare_projections
from tests.integration.audit.conftest import Command, make_history
from tests.support.postgres import superuser

OWNER = "ledger_owner_of_tests"
TABLES = ("events", "decisions", "policies")
SECRET = b"0123456789abcdef0123456789abcdef"


def count(database: str, table: str) -> int:
    with psycopg.connect(database) as connection:
        query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
        row = connection.execute(query).fetchone()
    assert row is not None
    number: int = row[0]
    return number


def test_a_trigger_refuses_every_change(history: str) -> None:
    prepare_ledger(history, SECRET, Policy(), None)
    for table in TABLES:
        before = count(history, table)
        assert before > 0
        for change in ("UPDATE {} SET partition = 0", "DELETE FROM {}", "TRUNCATE {}"):
            with (
                psycopg.connect(history, autocommit=True) as connection,
                pytest.raises(psycopg.errors.RaiseException, match="append-only"),
            ):
                connection.execute(sql.SQL(change).format(sql.Identifier(table)))
        assert count(history, table) == before


@pytest.fixture
def owned(history: str, command: Command) -> str:
    """The ledger, what must only grow given to an owner by the script that `audit roles` prints."""
    prepare_ledger(history, SECRET, Policy(), None)
    prepare_projections(history, Policy())
    script = command("audit", "roles", "--app", ROLE, "--owner", OWNER).output
    with superuser(history, str(conninfo_to_dict(history)["dbname"])) as connection:
        for _ in range(2):
            connection.execute(script.encode())
    return history


CHANGES = [
    "UPDATE events SET recorded_at = now()",
    "UPDATE decisions SET code = NULL",
    "UPDATE policies SET policy = 'null'",
    "DELETE FROM events",
    "DELETE FROM decisions",
    "DELETE FROM policies",
    "TRUNCATE events",
    "TRUNCATE decisions",
    "TRUNCATE {month}",
    "DELETE FROM {month}",
    "ALTER TABLE events DISABLE TRIGGER ALL",
    "ALTER TABLE events DISABLE TRIGGER events_are_append_only",
    "ALTER TABLE {month} DISABLE TRIGGER ALL",
    "DROP TRIGGER events_are_append_only ON events",
    "DROP TRIGGER decisions_are_append_only ON decisions",
    "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql"
    " AS $$ BEGIN RETURN NEW; END $$",
    "DROP FUNCTION refuse_change() CASCADE",
    "CREATE RULE quiet AS ON INSERT TO events DO INSTEAD NOTHING",
    "CREATE TRIGGER mine BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION place_alert()",
    "ALTER TABLE events OWNER TO {role}",
    "ALTER TABLE events RENAME TO events_of_old",
    "ALTER TABLE events ALTER COLUMN state DROP NOT NULL",
    "ALTER TABLE decisions DETACH PARTITION {month}",
    "DROP TABLE events",
    "DROP TABLE decisions CASCADE",
    "DROP TABLE {month}",
    "DROP SCHEMA public CASCADE",
    "SET ROLE {owner}",
    "SET session_replication_role = replica",
    "ALTER ROLE {role} SUPERUSER",
    "GRANT {owner} TO {role}",
]


def test_the_application_role_cannot_get_round_the_owner(owned: str) -> None:
    names = {
        "role": sql.Identifier(ROLE),
        "owner": sql.Identifier(OWNER),
        "month": sql.Identifier(month_of(owned)),
    }
    before = [count(owned, table) for table in TABLES]
    allowed = []
    with psycopg.connect(owned, autocommit=True) as connection:
        # PostgreSQL only warns that it grants nothing; the changes that follow show so.
        connection.execute(sql.SQL("GRANT UPDATE ON events TO {role}").format(**names))
        for change in CHANGES:
            try:
                connection.execute(sql.SQL(change).format(**names))
                allowed.append(change)
            except psycopg.errors.InsufficientPrivilege:
                continue
    assert allowed == []
    assert [count(owned, table) for table in TABLES] == before


def month_of(database: str) -> str:
    with psycopg.connect(database) as connection:
        row = connection.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits"
            " WHERE inhparent = 'decisions'::regclass LIMIT 1"
        ).fetchone()
    assert row is not None
    name: str = row[0]
    return name


def test_the_ledger_works_as_ever_under_its_lesser_role(owned: str) -> None:
    """Decisions, a month that is not there yet, migrations that are done, read models."""
    with superuser(owned, str(conninfo_to_dict(owned)["dbname"])) as connection:
        month = sql.Identifier(month_of(owned))
        connection.execute("SET session_replication_role = replica")
        connection.execute(sql.SQL("DROP TABLE {}").format(month))
    before = count(owned, "events")
    assert migrate(owned) == []
    asyncio.run(make_history(owned, "later"))
    prepare_ledger(owned, SECRET, Policy(outreach_per_day=3), None)
    asyncio.run(prepare(owned, Policy()))
    asyncio.run(rebuild(owned, "customers", Policy()))
    assert count(owned, "events") > before
    assert count(owned, "decisions") == 24
    assert count(owned, "policies") == 2
    assert verify(owned).ok


def test_read_models_that_a_superusers_migrate_made_are_the_services_own(
    history: str, command: Command
) -> None:
    prepare_projections(make_conninfo(history, user=SUPERUSER), Policy())
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        asyncio.run(rebuild(history, "customers", Policy()))
    script = command("audit", "roles", "--app", ROLE, "--owner", OWNER).output
    with superuser(history, str(conninfo_to_dict(history)["dbname"])) as connection:
        connection.execute(script.encode())
    for name in MODELS:
        asyncio.run(rebuild(history, name, Policy()))
    with psycopg.connect(history) as connection:
        found = connection.execute("SELECT count(*) FROM analytics.sends").fetchone()
        owners = connection.execute(
            "SELECT DISTINCT pg_get_userbyid(relowner)::text FROM pg_class"
            " WHERE relnamespace = 'analytics'::regnamespace"
        ).fetchall()
    assert found == (12,)
    assert owners == [(ROLE,)]
