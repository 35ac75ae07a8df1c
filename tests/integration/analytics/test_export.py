"""An export has what the views have, goes on where it stopped, and is whole after a kill."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import fsspec
import psycopg
import pytest

from api.exports.folder import ExportFolder
from api.exports.manifest import BadExport
from api.exports.verifying import verify_export
from ledger.application.caller import SYSTEM
from ledger.application.commands import ApplyFact, Erase, ReportOutcome
from ledger.application.facts.fact import Fact
from ledger.domain.policy import Policy
from projections.exported_tables import TABLES
from projections.rebuild import rebuild
from projections.views import VIEWS
from tests.integration.analytics.conftest import add_history, caught_up
from tests.integration.analytics.exported import LATEST, asked, everything, exported
from tests.integration.store.engines import engine_on
from tests.support import build
from tests.support.preloaded import ROOT

KEYS = {
    "sends": "permit_id",
    "invoices": "invoice_key",
    "payments": "invoice_key, is_credit, payment_id",
    "threads": "thread_id",
    "incidents": "incident_id",
}
FORMATS = ("parquet", "csv", "jsonl")


def head(database: str) -> int:
    return int(rows(database, "SELECT max(position) FROM events")[0][0])


def rows(database: str, text: str) -> list[Any]:
    with psycopg.connect(database, options="-c timezone=UTC") as connection:
        return connection.execute(text.encode()).fetchall()


def as_text(found: list[Any]) -> list[str]:
    return sorted(" ".join(str(value) for value in row) for row in found)


async def tell(database: str, *facts: Any) -> None:
    async with engine_on(database) as engine:
        await engine.submit_all([ApplyFact(Fact(fact), SYSTEM) for fact in facts])
    await caught_up(database)


@pytest.mark.parametrize("format", FORMATS)
def test_it_has_what_the_views_have_after_each_turn(
    history: str, tmp_path: Path, format: str
) -> None:
    first = exported(history, tmp_path, format=format, most=25)
    assert first.ranges > 2
    asyncio.run(add_history(history, "more", 6))
    asyncio.run(tell(history, build.merged("cus_1", "cus_2"), build.message(customer="cus_1")))
    second = exported(history, tmp_path, format=format)
    assert second.ranges == 1
    assert second.position == head(history)
    again = exported(history, tmp_path, format=format)
    assert (again.rows, again.ranges) == (0, 0)
    for table in ("sends", "invoices", "payments", "threads"):
        text = LATEST.format(table=f"{{{table}}}", key=KEYS[table])
        columns = [row[0] for row in rows(history, _columns_of(table))]
        of_interest = [c for c in columns if not c.endswith(("_at", "_until", "_from", "_on"))]
        chosen = ", ".join(f"{name}::text" for name in of_interest if name != "granted_day")
        found = asked(tmp_path, f"SELECT {chosen} FROM ({text})", format)
        wanted = rows(history, f"SELECT {chosen} FROM analytics.{table}")
        assert as_text(found) == as_text(wanted) != [], table
    counts = "SELECT count(*), count(DISTINCT decision_id), sum(request_count) FROM "
    bound = f" WHERE log_position < {head(history)}"
    for table in ("decisions", "denials"):
        found = asked(tmp_path, counts + f"{{{table}}}", format)
        assert as_text(found) == as_text(rows(history, counts + f"analytics.{table}" + bound))
    events = "SELECT log_position, topic FROM {events} ORDER BY 1"
    found = asked(tmp_path, events, format)
    assert [row[0] for row in found] == list(range(1, head(history) + 1))
    assert verify_export(str(tmp_path), history).problems == []


def _columns_of(table: str) -> str:
    return (
        "SELECT attname::text FROM pg_attribute WHERE attnum > 0 AND attrelid ="
        f" 'analytics.{table}'::regclass ORDER BY attnum"
    )


def test_instants_and_states_survive_each_format(history: str, tmp_path: Path) -> None:
    wanted = rows(history, "SELECT position, recorded_at, topic FROM events ORDER BY 1")
    for format in FORMATS:
        exported(history, tmp_path / format, format=format, tables=("events",))
        text = "SELECT log_position, recorded_at::timestamptz, topic FROM {events} ORDER BY 1"
        assert asked(tmp_path / format, text, format) == wanted


def test_stages_that_were_given_back_are_gone(history: str, tmp_path: Path) -> None:
    exported(history, tmp_path)
    latest = (
        "SELECT count(stage) FROM (SELECT *, max(exported_position) OVER"
        " (PARTITION BY invoice_key) AS last FROM {stages}) WHERE exported_position = last"
    )
    before = asked(tmp_path, latest)[0][0]
    assert before == rows(history, "SELECT count(*) FROM analytics.stages")[0][0] == 12

    async def refuse() -> None:
        permit = rows(history, "SELECT permit_id::text FROM analytics.sends WHERE state='granted'")
        async with engine_on(history) as engine:
            answer = await engine.submit(ReportOutcome(permit[0][0], "rejected", SYSTEM))
            assert answer.status == 200, answer.body
        await caught_up(history)

    asyncio.run(refuse())
    exported(history, tmp_path)
    assert asked(tmp_path, latest)[0][0] == 11


def test_it_begins_where_it_is_asked_to(history: str, tmp_path: Path) -> None:
    done = exported(history, tmp_path / "a", since=10, tables=("events",))
    assert (done.rows, done.position) == (head(history) - 10, head(history))
    assert asked(tmp_path / "a", "SELECT min(log_position) FROM {events}") == [(11,)]
    at = rows(history, "SELECT recorded_at FROM events WHERE position = 20")[0][0]
    exported(history, tmp_path / "b", since=at, tables=("events",))
    assert asked(tmp_path / "b", "SELECT min(recorded_at) FROM {events}") == [(at,)]
    assert verify_export(str(tmp_path / "b"), history).problems == []


def test_what_was_recorded_just_now_waits(history: str, tmp_path: Path) -> None:
    assert exported(history, tmp_path, settle=3600.0).position == 0
    assert exported(history, tmp_path, settle=0.0).position == head(history)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"format": "csv"}, "it has the format parquet"),
        ({"tables": ("events",)}, "and the tables events, decisions"),
        ({"since": 5}, "leave --since out"),
    ],
)
def test_another_wish_is_refused(
    history: str, tmp_path: Path, how: dict[str, Any], why: str
) -> None:
    exported(history, tmp_path)
    with pytest.raises(BadExport, match=why):
        exported(history, tmp_path, **how)


def test_files_of_others_are_left_alone(history: str, tmp_path: Path) -> None:
    (tmp_path / "thesis.odt").write_text("all of it")
    with pytest.raises(BadExport, match=r"other files in the folder, thesis\.odt"):
        exported(history, tmp_path)
    assert (tmp_path / "thesis.odt").read_text() == "all of it"


def test_two_exports_to_one_folder_do_not_meet(history: str, tmp_path: Path) -> None:
    with ExportFolder(str(tmp_path)).held(), pytest.raises(BadExport, match="is at work"):
        exported(history, tmp_path)


def test_a_log_that_was_rewritten_is_not_gone_on_with(history: str, tmp_path: Path) -> None:
    exported(history, tmp_path)
    with psycopg.connect(history) as connection:
        connection.execute("ALTER TABLE events DISABLE TRIGGER USER")
        connection.execute(
            "UPDATE events SET hash = sha256('x') WHERE position = %s", (head(history),)
        )
    with pytest.raises(BadExport, match="it was restored, or rewritten"):
        exported(history, tmp_path)


def test_an_object_store_takes_it_too(history: str, tmp_path: Path) -> None:
    url = f"memory://{tmp_path.name}"
    exported(history, url, most=40)
    asyncio.run(add_history(history, "more", 4))
    exported(history, url)
    proof = verify_export(url, history)
    assert (proof.problems, proof.position) == ([], head(history))
    fsspec.filesystem("memory").get(f"{url}/", f"{tmp_path}/", recursive=True)
    found = asked(tmp_path, "SELECT count(*) FROM {events}")
    assert found == [(head(history),)]


def test_an_export_that_is_killed_is_gone_on_with(history: str, tmp_path: Path) -> None:
    """Killed by SIGKILL once a range is complete and the next one is being written."""
    folder = tmp_path / "out"
    program = (
        "import sys; from api.exports.exporting import Wanted, export;"
        "export(sys.argv[1], sys.argv[2], Wanted(settle=0.0, most=3),"
        " lambda done, end: print(done, flush=True))"
    )
    for kills in (1, 2):
        child = subprocess.Popen(
            [sys.executable, "-c", program, history, str(folder)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
        )
        assert child.stdout is not None
        reached = [child.stdout.readline() for _ in range(2 + kills)]
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert int(reached[-1]) > int(reached[0])
        assert verify_export(str(folder), history).position >= int(reached[-1])
    assert exported(history, folder).position == head(history)
    proof = verify_export(str(folder), history)
    assert (proof.problems, proof.events) == ([], head(history))
    assert not list((folder / "_unfinished").glob("*"))
    found = asked(folder, "SELECT log_position FROM {events} ORDER BY 1")
    assert [row[0] for row in found] == list(range(1, head(history) + 1))


def test_files_of_a_range_that_was_not_completed_are_removed(history: str, tmp_path: Path) -> None:
    exported(history, tmp_path, tables=("events",))
    (day,) = (tmp_path / "events").iterdir()
    left = day / f"{head(history):012d}-{head(history) + 5:012d}.parquet"
    left.write_bytes(b"half")
    assert verify_export(str(tmp_path), history).problems == [
        f"{left.relative_to(tmp_path)} is in no manifest"
    ]
    exported(history, tmp_path, tables=("events",))
    assert not left.exists()


def test_a_rebuild_meanwhile_changes_nothing(history: str, tmp_path: Path) -> None:
    exported(history, tmp_path, tables=("sends",))
    asyncio.run(rebuild(history, "customers", Policy()))
    asyncio.run(add_history(history, "more", 4))
    exported(history, tmp_path, tables=("sends",))
    text = LATEST.format(table="{sends}", key="permit_id")
    found = asked(tmp_path, f"SELECT count(*) FROM ({text})")
    assert found == rows(history, "SELECT count(*) FROM analytics.sends")


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_no_address_is_in_an_export(history: str, tmp_path: Path, format: str) -> None:
    async def erase() -> None:
        fact = build.invoice("inv-x", "cus_x", email="pat@customer.example")
        said = build.message(customer="cus_x", sender="kim@customer.example")
        await tell(history, fact, said)
        exported(history, tmp_path / "before", format=format)
        async with engine_on(history) as engine:
            await engine.submit(Erase("cus_x", "ann", SYSTEM))
        await caught_up(history)

    asyncio.run(erase())
    exported(history, tmp_path / "after", format=format)
    for when in ("before", "after"):
        found = everything(tmp_path / when)
        for table in ("events", "sends"):
            names = asked(tmp_path / when, f"SELECT * FROM {{{table}}}", format)
            found += str(names).encode()
        assert b"cus_x" in found
        assert b"customer.example" not in found


def test_every_view_of_things_has_its_table() -> None:
    assert set(VIEWS) - set(TABLES) == {"customers_daily", "senders_daily", "feeds", "progress"}
