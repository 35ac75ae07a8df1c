"""The guard check against real stores and targets, sound ones and such as were tampered with."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from api.guard_check.check import GuardCheckResult, run_guard_check
from api.http.context import Context
from api.process.assembly import build_context
from api.process.serving import prepare
from api.running.supervision import Supervisor
from api.settings.environment import Settings
from ledger.application.caller import SYSTEM
from ledger.application.commands import EnterRecovery
from ledger.application.engine import Engine
from ledger.domain.policy import Policy
from ledger.store.looking_back.journal import DecisionFilter, list_decisions
from projections.generations import entered
from tests.support.receivers import free_port, webhook

NAMES = [
    "duplicate_denied",
    "flood_stopped",
    "breaker_opened",
    "drill_delivered",
    "decisions_recorded",
    "projections_current",
    "clock_sane",
    "store_durable",
]


class Ledger:
    """A ledger on a database, started anew for each guard check."""

    def __init__(self, conninfo: str, folder: Path) -> None:
        self.settings = Settings(folder, conninfo, b"a secret of the tests, 32 bytes.", Policy())
        prepare(self.settings, conninfo, None)
        self.conninfo = conninfo

    def check(
        self,
        urls: Sequence[str] = (),
        *,
        policy: Policy | None = None,
        projecting: bool = True,
        recovering: bool = False,
    ) -> GuardCheckResult:
        """The result of a guard check; `policy` is what the checker thinks is in force."""

        async def run() -> GuardCheckResult:
            settings = replace(self.settings, alert_urls=tuple(urls))
            context = build_context(settings, self.conninfo, False, Supervisor())
            await context.connections.open()
            await context.engine.start()
            if projecting:
                await context.projector.start()
            try:
                if recovering:
                    await context.engine.submit(EnterRecovery("an older copy", None))
                if policy is not None:
                    context.policy = policy
                return await run_guard_check(context, SYSTEM)
            finally:
                await self._close(context)

        return asyncio.run(run())

    @staticmethod
    async def _close(context: Context) -> None:
        engine: Engine = context.engine
        await engine.stop()
        await context.projector.stop()
        await context.pager.stop()
        await context.connections.close()
        await context.close()

    def run_sql(self, text: str) -> list[tuple[object, ...]]:
        """Run a statement as the database's owner."""
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            cursor = connection.execute(text.encode())
            return cursor.fetchall() if cursor.description else []


@pytest.fixture
def ledger(durable_database: str, tmp_path: Path) -> Ledger:
    """A fresh ledger."""
    return Ledger(durable_database, tmp_path)


def failures(result: GuardCheckResult) -> dict[str, str]:
    """The probes that did not pass, and what they say."""
    assert [check.name for check in result.checks] == NAMES
    found = {check.name: check.detail for check in result.checks if not check.passed}
    assert result.passed is not bool(found)
    return found


def detail_of(result: GuardCheckResult, name: str) -> str:
    """What one probe says."""
    return next(check.detail for check in result.checks if check.name == name)


def test_a_sound_ledger_passes_and_says_what_it_saw(ledger: Ledger) -> None:
    with webhook() as first, webhook() as second:
        result = ledger.check([first.url, second.url])
        assert failures(result) == {}
        drills = [(body["reason"], body["title"]) for body in first.bodies + second.bodies]
    assert len(drills) == 2
    assert all(reason == "drill" and "DRILL" in title for reason, title in drills)
    assert detail_of(result, "drill_delivered") == "the drill reached json#1, json#2"
    assert detail_of(result, "flood_stopped") == (
        "of 4 more mails 1 were granted, up to the cap of 2 in 24 hours; "
        "then cap_reached, breaker_open × 2"
    )
    assert detail_of(result, "store_durable") == (
        "fsync = on, full_page_writes = on, synchronous_commit = on"
    )
    rows = ledger.run_sql("SELECT drill, customer_id FROM alerts")
    assert rows == [(True, f"ledger-probe-{result.id}")]
    left = ledger.run_sql("SELECT state FROM permits ORDER BY state")
    assert left == [("rejected",), ("sent",)]


def test_without_targets_it_says_that_nobody_would_be_paged(ledger: Ledger) -> None:
    result = ledger.check()
    assert failures(result) == {}
    assert "no target is configured" in detail_of(result, "drill_delivered")


def test_its_customer_is_in_no_read_model_and_its_answers_are_in_the_decision_log(
    ledger: Ledger,
) -> None:
    result = ledger.check()

    async def look() -> tuple[list[str], list[tuple[str, str | None]]]:
        connection = await psycopg.AsyncConnection.connect(ledger.conninfo, autocommit=True)
        async with connection:
            models = []
            for table, column in (
                ("customers", "customer_id"),
                ("mails", "customer_id"),
                ("invoices", "customer_id"),
            ):
                query = f"SELECT 1 FROM {table} WHERE {column} LIKE 'ledger-probe-%'"
                async with entered(connection):
                    cursor = await connection.execute(query.encode())
                    if await cursor.fetchall():
                        models.append(table)
            wanted = DecisionFilter(customers=(f"ledger-probe-{result.id}",))
            rows = await list_decisions(connection, wanted, 100, None)
        return models, [(row["sender"], row["code"]) for row in rows]

    models, heard = asyncio.run(look())
    assert models == []
    assert [sender for sender, _ in heard] == ["guard-check"] * 10
    codes = [code or "yes" for _, code in heard]
    assert {code: codes.count(code) for code in codes} == {
        "yes": 3,
        "already_redeemed": 1,
        "already_sent": 2,
        "breaker_open": 2,
        "cap_reached": 1,
        "permit_held": 1,
    }


def test_recovery_mode_does_not_keep_the_probes_from_passing(ledger: Ledger) -> None:
    assert failures(ledger.check(recovering=True)) == {}


def test_a_target_that_is_away_fails_the_drill_and_names_it(ledger: Ledger) -> None:
    with webhook() as there:
        found = failures(ledger.check([there.url, f"json://127.0.0.1:{free_port()}/hook"]))
        assert len(there.bodies) == 1
    assert list(found) == ["drill_delivered"]
    assert found["drill_delivered"].startswith("the drill reached json#1; json#2 did not:")


def test_a_failure_is_on_record_and_pages(ledger: Ledger) -> None:
    result = ledger.check([f"json://127.0.0.1:{free_port()}/hook"])
    state = ledger.run_sql("SELECT state FROM events WHERE topic = 'ledger:Control.GuardChecked'")
    assert state[0][0]["failed"] == ["drill_delivered"]  # type: ignore[index]
    assert state[0][0]["check_id"] == result.id  # type: ignore[index]
    alerts = ledger.run_sql("SELECT dedupe_key, drill FROM alerts WHERE kind = 'guard_failed'")
    assert alerts == [(f"guard_failed:{result.id}", False)]


def dropping(table: str) -> str:
    """Let a table lose whatever is inserted into it."""
    return (
        "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        f"CREATE TRIGGER lose BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION lose()"
    )


def test_a_store_that_forgets_send_keys_is_found(ledger: Ledger) -> None:
    ledger.run_sql(dropping("names"))
    found = failures(ledger.check())
    assert "duplicate_denied" in found
    assert "heard granted × 2" in found["duplicate_denied"]


def test_a_store_that_loses_decisions_is_found(ledger: Ledger) -> None:
    ledger.check()
    ledger.run_sql(dropping("decisions"))
    found = failures(ledger.check())
    assert found["decisions_recorded"] == "10 answers are not in the decision log as given"


def test_a_cap_that_is_not_the_policys_is_found(ledger: Ledger) -> None:
    found = failures(ledger.check(policy=Policy(outreach_per_day=4)))
    assert "heard granted, cap_reached, breaker_open × 4, not" in found["flood_stopped"]


def test_read_models_that_stand_still_are_found(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.guard_check.probes._READ_MODELS_WAIT", 0.2)
    found = failures(ledger.check(projecting=False))
    assert list(found) == ["projections_current"]
    assert "behind position" in found["projections_current"]


def test_a_log_that_is_ahead_of_the_clock_is_found(ledger: Ledger) -> None:
    ledger.check()
    ledger.run_sql(
        "INSERT INTO events SELECT partition, position + 1, gen_random_uuid(), 1, topic, state,"
        " recorded_at + interval '1 hour', hash FROM events ORDER BY position DESC LIMIT 1"
    )
    found = failures(ledger.check())
    assert "s ahead of the database's clock" in found["clock_sane"]


def test_a_store_that_may_lose_commits_is_found(database: str, tmp_path: Path) -> None:
    result = Ledger(database, tmp_path).check()
    assert failures(result) == {
        "store_durable": "fsync = off, full_page_writes = off, synchronous_commit = on"
    }


@pytest.fixture
def stuck() -> Iterator[str]:
    """The Apprise URL of a target that takes a message and never answers."""
    with webhook() as target:
        target.answering.clear()
        yield target.url


def test_a_target_that_never_answers_is_given_up(
    ledger: Ledger, stuck: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.guard_check.check._DRILL_SECONDS", 0.5)
    found = failures(ledger.check([stuck]))
    assert found == {"drill_delivered": "no result within 0 seconds"}
