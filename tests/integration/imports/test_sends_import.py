"""`send-ledger sends import` on a real ledger: what it takes in, what it knows, what it skips."""

import asyncio
import csv
import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner, Result

from api.cli.main import main
from api.imports.sends_import import Import, Reading
from api.imports.sends_log import Columns, RawRow
from api.process.serving import prepare
from api.settings.environment import Settings
from ledger.application.caller import SYSTEM, Caller
from ledger.application.commands import ApplyFact, ReportOutcome, RequestPermit
from ledger.application.engine import Engine
from ledger.application.facts.customer_observed import CustomerObserved
from ledger.application.facts.fact import Fact, FactData
from ledger.application.kinds.notification import Notification
from ledger.application.ports import Need
from ledger.application.world import Identity
from ledger.domain.customer import Customer
from ledger.domain.identity import Address, aggregate_id, customer_known_by, fingerprint
from ledger.domain.policy import Policy
from ledger.store.connections import Connections
from ledger.store.log.reader import LedgerReader
from ledger.store.log.writer import PostgresWriter
from tests.support.build import customer, invoice

NOW = datetime(2026, 7, 15, 8, tzinfo=UTC)
SECRET = "the secret of the imports' tests"
SENDER = Caller(SYSTEM.key_id, "poller", frozenset({"send", "facts", "operate"}))


class Ledger:
    """A ledger on a test clock, and what a test does and sees of it."""

    def __init__(self, conninfo: str, folder: Path) -> None:
        self.conninfo, self.folder = conninfo, folder
        self.settings = Settings(folder / "data", conninfo, SECRET.encode(), Policy())
        self.identity = Identity(SECRET.encode(), self.settings.policy.message_id_domain)
        prepare(self.settings, conninfo, NOW)

    def run(self, file: str | Path, *options: str, stdin: bytes | None = None) -> Result:
        """The command, as a shell would run it."""
        env = {
            "LEDGER_DATABASE_URL": self.conninfo,
            "LEDGER_SECRET": SECRET,
            "LEDGER_DATA_DIR": str(self.folder / "data"),
            "LEDGER_CONFIG": "",
        }
        command = ["sends", "import", str(file), *options]
        return CliRunner().invoke(main, command, env=env, input=stdin)

    def csv(self, name: str, *rows: dict[str, Any]) -> Path:
        """A CSV file with these rows."""
        path = self.folder / name
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return path

    def decide(self, *commands: Any) -> list[Any]:
        """The answers of the ledger."""

        async def work() -> list[Any]:
            writer = PostgresWriter(self.conninfo)
            engine = Engine(writer, self.settings.policy, self.identity)
            await engine.start()
            try:
                return [await engine.submit(command) for command in commands]
            finally:
                await engine.stop()
                await writer.close()

        return asyncio.run(work())

    def told(self, *facts: FactData) -> None:
        """Let the ledger hear of facts."""
        for answer in self.decide(*(ApplyFact(Fact(f, "tests"), SENDER) for f in facts)):
            assert answer.result == "applied"

    def address(self, text: str) -> Address:
        """An address with this ledger's fingerprint."""
        return Address(text, fingerprint(SECRET.encode(), text))

    def aggregate(self, kind: str, name: str) -> Any:
        """An aggregate as it stands."""

        async def work() -> Any:
            connections = Connections(self.conninfo)
            await connections.open()
            try:
                id_ = aggregate_id(kind, name)
                found = await LedgerReader(connections).load(Need(aggregates={id_}))
                return found.aggregates.get(id_)
            finally:
                await connections.close()

        return asyncio.run(work())

    def mails(self, customer_id: str) -> int:
        """How many mails count in the customer's windows."""
        found: Customer = self.aggregate("customer", customer_id)
        return len(found.permits)

    def events(self) -> int:
        """How many events the log has."""
        with psycopg.connect(self.conninfo) as connection:
            row = connection.execute("SELECT count(*) FROM events").fetchone()
        assert row is not None
        count: int = row[0]
        return count


@pytest.fixture
def ledger(empty_database: str, tmp_path: Path) -> Ledger:
    """A fresh ledger."""
    return Ledger(empty_database, tmp_path)


def sent(number: int, minutes: float = 0, **more: Any) -> dict[str, Any]:
    """A row: a mail to cus_1, some minutes ago."""
    at = (NOW - timedelta(minutes=minutes)).isoformat()
    return {"mail": f"m{number}", "who": "cus_1", "when": at} | more


BASICS = ("--customer", "who", "--at", "when", "--id", "mail")


def numbers(result: Result) -> dict[str, int]:
    """The table that the command ends with."""
    found = {}
    for line in result.stdout.splitlines():
        label, _, number = line.strip().rpartition(" ")
        if number.replace(",", "").isdigit():
            found[label.strip()] = int(number.replace(",", ""))
    return {label.split(",")[0]: count for label, count in found.items() if count}


def test_mails_fill_windows_use_up_stages_and_open_the_breaker(ledger: Ledger) -> None:
    ledger.told(invoice("inv_1", due="2026-07-05", total=100, owes=100))
    rows = [sent(n, 60 - n, invoice="inv_1", stage="day-3") for n in range(5)]
    result = ledger.run(
        ledger.csv("log.csv", *rows), *BASICS, "--invoice", "invoice", "--stage", "stage"
    )
    assert (result.exit_code, numbers(result)) == (0, {"read": 5, "mails past the ledger": 5})
    found: Customer = ledger.aggregate("customer", "cus_1")
    assert sorted(p.granted_at for p in found.permits.values()) == [
        NOW - timedelta(minutes=60 - n) for n in range(5)
    ]
    assert {p.sender for p in found.permits.values()} == {"observed:import"}
    assert found.breaker is not None
    stages = ledger.aggregate("invoice", "inv_1").stages
    assert {stage: record.state for (_, stage), record in stages.items()} == {"day-3": "sent"}


def test_a_second_import_changes_nothing(ledger: Ledger) -> None:
    path = ledger.csv("log.csv", *(sent(n, n) for n in range(1500)))
    assert numbers(ledger.run(path, *BASICS)) == {"read": 1500, "mails past the ledger": 1500}
    events = ledger.events()
    result = ledger.run(path, *BASICS)
    assert (result.exit_code, numbers(result)) == (0, {"read": 1500, "known already": 1500})
    assert ledger.events() == events
    more = ledger.csv("more.csv", *(sent(n, n) for n in range(1498, 1502)))
    assert numbers(ledger.run(more, *BASICS)) == {
        "read": 4,
        "mails past the ledger": 2,
        "known already": 2,
    }
    assert numbers(ledger.run(more, *BASICS, "--source", "other")) == {
        "read": 4,
        "mails past the ledger": 4,
    }


def test_rows_without_an_id_are_known_by_all_that_they_hold(ledger: Ledger) -> None:
    rows = [sent(0), sent(0), sent(0, 5)]
    path = ledger.csv("log.csv", *rows)
    result = ledger.run(path, "--customer", "who", "--at", "when")
    assert numbers(result) == {"read": 3, "mails past the ledger": 2, "known already": 1}
    assert "rows that are the same in every column are one mail" in result.stdout
    again = ledger.run(path, "--customer", "who", "--at", "when")
    assert numbers(again) == {"read": 3, "known already": 3}


def test_bad_rows_are_listed_and_skipped_and_the_exit_code_says_so(ledger: Ledger) -> None:
    rows = [
        sent(0),
        sent(1, who=""),
        sent(2, when="soon"),
        sent(3, stage="day-99", invoice="inv_1"),
        sent(4, when=(NOW + timedelta(days=2)).isoformat()),
        sent(5, who="ledger-probe-1"),
        sent(6),
    ]
    rows[0] |= {"stage": "", "invoice": ""}
    path = ledger.csv("log.csv", *({"stage": "", "invoice": ""} | row for row in rows))
    listed = ledger.folder / "bad"
    result = ledger.run(
        path, *BASICS, "--invoice", "invoice", "--stage", "stage", "--errors", str(listed)
    )
    assert result.exit_code == 3
    assert numbers(result) == {"read": 7, "mails past the ledger": 2, "skipped": 5}
    lines = [line for line in result.stderr.splitlines() if line.startswith("line ")]
    assert lines == [
        "line 3: it names no customer",
        "line 4: at: this is no time; write 2026-12-01T00:00:00Z",
        "line 5: stage: it is not one of the policy's: day-3, day-7, day-14",
        "line 7: customer_id: ids that begin with ledger-probe- are the guard check's own",
        "line 6: at: the time lies in the future",
    ]
    assert [line.split("\t")[0] for line in listed.read_text().splitlines()] == list("34576")
    assert ledger.mails("cus_1") == 2


def test_only_the_first_bad_rows_are_shown(ledger: Ledger) -> None:
    path = ledger.csv("log.csv", *(sent(n, who="") for n in range(30)))
    result = ledger.run(path, *BASICS)
    assert result.exit_code == 3
    assert sum(line.startswith("line ") for line in result.stderr.splitlines()) == 20
    assert "and 10 more; --errors FILE lists all" in result.stderr


def test_a_dry_run_counts_and_writes_nothing(ledger: Ledger) -> None:
    path = ledger.csv("log.csv", sent(0), sent(1, who=""), sent(2))
    ledger.told(customer("cus_1"))
    events = ledger.events()
    result = ledger.run(path, *BASICS, "--dry-run")
    assert (result.exit_code, ledger.events()) == (3, events)
    assert numbers(result) == {"read": 3, "mails past the ledger": 2, "skipped": 1}
    assert "nothing was written" in result.stdout
    assert "line 3: it names no customer" in result.stderr
    ledger.run(path, *BASICS)
    assert numbers(ledger.run(path, *BASICS, "--dry-run")) == {
        "read": 3,
        "known already": 2,
        "skipped": 1,
    }


def test_json_lines_from_standard_input_with_nested_columns(ledger: Ledger) -> None:
    lines = [
        {"to": {"id": "cus_9"}, "ts": int(NOW.timestamp() * 1000) - n, "id": n} for n in range(3)
    ]
    text = "\n".join(json.dumps(line) for line in lines).encode()
    options = ("--format", "jsonl", "--customer", "to.id", "--at", "ts", "--id", "id")
    result = ledger.run("-", *options, stdin=text)
    assert (result.exit_code, numbers(result)) == (0, {"read": 3, "mails past the ledger": 3})
    assert ledger.mails("cus_9") == 3


def test_rows_that_are_not_to_be_taken_are_left_out(ledger: Ledger) -> None:
    rows = [sent(0, status="delivered"), sent(1, status="suppressed"), sent(2, status="")]
    result = ledger.run(ledger.csv("log.csv", *rows), *BASICS, "--only", "status=delivered")
    assert (result.exit_code, numbers(result)) == (
        0,
        {"read": 3, "mails past the ledger": 1, "left out by --only": 2},
    )


def test_an_address_leads_to_its_customer(ledger: Ledger) -> None:
    pat = ledger.address("pat@example.com")
    ledger.told(CustomerObserved("cus_1", (pat,)))
    rows = [
        {"to": "Pat@Example.com", "when": NOW.isoformat(), "mail": "m1"},
        {"to": "kim@example.com", "when": NOW.isoformat(), "mail": "m2"},
    ]
    result = ledger.run(
        ledger.csv("log.csv", *rows), "--address", "to", "--at", "when", "--id", "mail"
    )
    assert numbers(result) == {"read": 2, "mails past the ledger": 2}
    assert ledger.mails("cus_1") == 1
    kim = ledger.address("kim@example.com")
    assert ledger.mails(customer_known_by(kim)) == 1
    with psycopg.connect(ledger.conninfo) as connection:
        rows_ = connection.execute(
            "SELECT address FROM contacts WHERE fingerprint = %s", [kim.fingerprint]
        )
        assert rows_.fetchall() == [("kim@example.com",)]
        log = connection.execute("SELECT count(*) FROM events WHERE state::text LIKE '%@example%'")
        assert log.fetchone() == (0,)


def test_a_mail_of_the_ledgers_own_permit_settles_it_and_counts_once(ledger: Ledger) -> None:
    asked = [
        RequestPermit(
            Notification("shipped", n, "cus_1", None), SENDER, str(uuid.uuid4()), b"{}", redeem=True
        )
        for n in ("o1", "o2")
    ]
    by_header, by_provider = [a.permit_id for a in ledger.decide(*asked)]
    ledger.decide(ReportOutcome(by_provider, "unknown", SENDER, "resend", "pm_2"))
    assert ledger.mails("cus_1") == 2
    rows = [
        sent(1) | {"header": ledger.identity.message_id(by_header)},
        sent(2) | {"header": ""},
        sent(3) | {"header": "<of another system@example.com>"},
    ]
    rows[1]["mail"] = "pm_2"
    result = ledger.run(ledger.csv("log.csv", *rows), *BASICS, "--message-id", "header")
    assert numbers(result) == {
        "read": 3,
        "mails past the ledger": 1,
        "mails of the ledger's own permits": 2,
    }
    found: Customer = ledger.aggregate("customer", "cus_1")
    states = {p.permit_id: str(p.state) for p in found.permits.values()}
    assert (states[by_header], states[by_provider], len(states)) == ("sent", "sent", 3)


def test_what_must_be_said_on_the_command_line(ledger: Ledger) -> None:
    path = ledger.csv("log.csv", sent(0))
    for options, says in (
        (("--at", "when"), "name at least --at, and --customer or --address"),
        (
            ("--customer", "who", "--at", "sent"),
            "there is no column sent; there are mail, who, when",
        ),
        ((*BASICS, "--time-zone", "Mars"), "not an IANA time zone"),
        ((*BASICS, "--only", "status"), "it is written COLUMN=VALUE"),
    ):
        result = ledger.run(path, *options)
        assert result.exit_code in (1, 2)
        assert says in result.stderr
    path = ledger.folder / "log.txt"
    path.write_text("who\ncus_1\n")
    assert "name the --format" in ledger.run(path, *BASICS).stderr


def test_another_ledgers_secret_is_refused(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.integration.imports.test_sends_import.SECRET", "x" * 32)
    result = ledger.run(ledger.csv("log.csv", sent(0)), *BASICS)
    assert result.exit_code == 1
    assert "LEDGER_SECRET is not the secret" in result.stderr


def test_no_more_rows_are_read_than_are_being_taken_in(ledger: Ledger) -> None:
    """A file of any size fits into memory: what is ahead is bounded by a chunk."""
    produced = 0
    ahead: list[int] = []

    def rows() -> Iterator[RawRow]:
        nonlocal produced
        for number in range(3500):
            produced += 1
            yield RawRow(number, {"who": f"cus_{number}", "when": NOW.isoformat(), "mail": number})

    columns = Columns(customer="who", at="when", id="mail")
    work = Import(
        ledger.settings,
        ledger.conninfo,
        Reading(columns, "import"),
        lambda line, why: pytest.fail(why),
        lambda taken: ahead.append(produced - taken),
    )
    counts = asyncio.run(work.run(rows()))
    assert (counts.observed, ahead) == (3500, [0, 0, 0, 0])
