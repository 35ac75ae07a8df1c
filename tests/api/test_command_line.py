"""The command line as a newcomer meets it: readable tables, and errors in one line."""

import asyncio
import re
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from api.cli.main import main
from api.cli.terminal import console
from ledger.application.caller import SYSTEM
from ledger.application.commands import CallPause, NoteFeedSilence
from tests.integration.store.engines import engine_on, rows
from tests.support.postgres import fresh_database
from tests.support.service import Service

Command = Callable[..., Result]
_SECRET = "the secret of every service under test"


@pytest.fixture
def run(tmp_path: Path) -> Command:
    """`run(conninfo, "status")`: send-ledger on that database."""

    def work(conninfo: str, *words: str, **env: str) -> Result:
        given = {
            "LEDGER_DATABASE_URL": conninfo,
            "LEDGER_DATA_DIR": str(tmp_path),
            "LEDGER_SECRET": _SECRET,
            "LEDGER_CONFIG": "",
            "COLUMNS": "120",
        } | env
        # The width is that of the terminal in which the console was made: of an earlier test.
        console.width = int(given["COLUMNS"])
        return CliRunner().invoke(main, words, env=given)

    return work


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("due",),
        ("keys", "list"),
        ("keys", "create", "x", "--scope", "send"),
        ("projections", "rebuild", "invoices"),
        ("webhooks", "list"),
        ("explain", "00000000-0000-0000-0000-000000000000"),
        ("audit", "verify"),
        ("erase", "somebody"),
        ("webhooks", "replay"),
    ],
    ids=" ".join,
)
def test_a_database_without_a_ledger_is_named(
    run: Command, postgres: str, words: tuple[str, ...]
) -> None:
    with fresh_database(postgres) as conninfo:
        done = run(conninfo, *words)
    assert done.exit_code == 1
    assert done.stderr == (
        "Error: the database is not set up for this version; run `send-ledger migrate` first\n"
    )


@pytest.mark.parametrize(
    "words", [("status",), ("keys", "create", "x", "--scope", "send"), ("webhooks", "replay")]
)
def test_a_folder_without_a_ledger_is_named_and_left_as_it_is(
    run: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = tmp_path / "misspelt"
    done = run("", *words, LEDGER_DATA_DIR=str(folder))
    assert done.exit_code == 1
    assert done.stderr == (
        f"Error: there is no ledger in {folder}; is LEDGER_DATA_DIR the one of the service? "
        "`send-ledger serve` makes a new one\n"
    )
    assert not folder.exists()


def test_a_misspelt_setting_stops_every_command(run: Command) -> None:
    for words in (("serve",), ("status",), ("keys", "create", "x", "--scopes", "send")):
        done = run("dbname=none", *words, LEDGER_REQUIRE_SNYC="on", LEDGER_ALERT_URL="x")
        assert (done.exit_code, done.stderr) == (
            1,
            "Error: LEDGER_ALERT_URL is not a setting (is LEDGER_ALERT_URLS meant?); "
            "LEDGER_REQUIRE_SNYC is not a setting (is LEDGER_REQUIRE_SYNC meant?); "
            "docs/settings.md lists the settings\n",
        )


@pytest.mark.parametrize("words", [("status",), ("erase", "x"), ("webhooks", "replay")])
def test_a_database_that_does_not_answer_is_told(run: Command, words: tuple[str, ...]) -> None:
    done = run("host=127.0.0.1 port=1 dbname=none user=nobody", *words)
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: connection failed: ")
    assert "Traceback" not in done.stderr


def test_migrate_says_what_it_ran_and_then_that_nothing_is_left(
    run: Command, postgres: str
) -> None:
    with fresh_database(postgres) as conninfo:
        first, second = run(conninfo, "migrate"), run(conninfo, "migrate")
        empty = {words: run(conninfo, *words.split()) for words in ("due", "webhooks list")}
        keys = run(conninfo, "keys", "list")
    assert first.output.startswith("ran 0001_log.sql\n")
    assert second.output == "the database is up to date\n"
    assert empty["due"].output == "nothing is newly due\n"
    assert empty["webhooks list"].output == "no body waits\n"
    assert keys.output == "there are no keys\n"


def test_a_port_that_is_taken_is_named(run: Command, postgres: str) -> None:
    with fresh_database(postgres) as conninfo, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run(conninfo, "serve", "--port", str(port))
    assert done.exit_code == 1
    assert f"Error: cannot listen on 127.0.0.1 port {port}: Address already in use" in done.stderr
    assert "--port names another" in done.stderr


def test_a_host_that_is_not_here_is_named(run: Command, postgres: str) -> None:
    with fresh_database(postgres) as conninfo:
        done = run(conninfo, "serve", "--host", "256.0.0.1")
    assert done.exit_code == 1
    assert "Error: cannot listen on 256.0.0.1 port 8080: " in done.stderr


def test_an_alert_url_that_cannot_be_used_stops_the_start(run: Command) -> None:
    done = run("dbname=none", "serve", LEDGER_ALERT_URLS="json://localhost banana")
    assert done.exit_code == 1
    assert done.stderr == "Error: LEDGER_ALERT_URLS: Apprise cannot use URL 2 (url#2)\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("serve", "--port", "99999"), "'--port': 99999 is not in the range"),
        (("serve", "--test-clock", "tomorrow"), "'--test-clock': a time is written 2026-12-01T"),
        (("serve", "--test-clock", "2026-12-01"), "'--test-clock': a time needs an offset"),
        (("projections", "rebuild", "nothing"), "is not one of 'analytics', 'customers'"),
        (("keys", "create", "x", "--scope", "all"), "'all' is not one of 'send', 'facts'"),
        (("keys", "create", "", "--scope", "send"), "name: it must not be empty"),
        (
            ("keys", "create", "x", "--scope", "send", "--intents", ","),
            "intents.0: it must not be empty",
        ),
        (("due", "--stage", "day-99"), "'--stage': 'day-99' is not one of day-3, day-7, day-14"),
        (("webhooks", "list", "--provider", "x"), "'x' is not one of 'stripe', 'chargebee'"),
    ],
)
def test_a_wrong_option_is_named(run: Command, words: tuple[str, ...], told: str) -> None:
    done = run("dbname=none", *words)
    assert done.exit_code == 2
    assert told in done.stderr


def test_help_cuts_no_sentence_off() -> None:
    for words in (
        [],
        ["keys"],
        ["audit"],
        ["webhooks"],
        ["projections"],
        ["sends"],
        ["alerts"],
        ["breakers"],
        ["incident"],
    ):
        said = CliRunner().invoke(main, [*words, "--help"]).stdout
        commands = said.partition("Commands:\n" if words else "Run a ledger:\n")[2]
        assert commands
        assert "..." not in commands


def test_clock_accept_is_an_event_under_a_name(run: Command, database: str) -> None:
    done = run(database, "clock", "accept", "--by", "ann", "--reason", "it is right")
    assert (done.exit_code, done.output[:46]) == (
        0,
        "the ledger goes by the database's clock, which",
    )
    query = (
        "SELECT state ->> 'by', state ->> 'reason' FROM events WHERE topic LIKE '%ClockAccepted'"
    )
    assert asyncio.run(rows(database, query)) == [("ann", "it is right")]
    assert run(database, "clock", "accept").exit_code == 2


def test_status_tells_a_pause_with_its_reason(run: Command, database: str) -> None:
    async def pause() -> None:
        async with engine_on(database) as engine:
            call = CallPause("outreach", "the same mail again and again", "ann", SYSTEM)
            assert (await engine.submit(call)).status == 200

    assert run(database, "migrate").exit_code == 0
    on = run(database, "status").output
    assert re.search(r"^sending +on *$", on, re.MULTILINE)
    asyncio.run(pause())
    paused = run(database, "status").output
    said = r"^sending +PAUSED outreach since 20[\d :-]+ by ann: the same mail again and again *$"
    assert re.search(said, paused, re.MULTILINE)
    for model in ("analytics", "customers", "incidents", "invoices"):
        assert re.search(rf"^{model} ", paused, re.MULTILINE)


def test_status_names_the_sources_that_are_silent(run: Command, database: str) -> None:
    async def fall_silent() -> None:
        async with engine_on(database) as engine:
            silence = NoteFeedSilence("erp", datetime(2026, 11, 20, 10, tzinfo=UTC))
            assert (await engine.submit(silence)).result == "applied"

    assert run(database, "migrate").exit_code == 0
    assert re.search(r"^silent sources +none *$", run(database, "status").output, re.MULTILINE)
    asyncio.run(fall_silent())
    said = r"^silent sources +erp, last heard 2026-11-20 10:00:00"
    assert re.search(said, run(database, "status").output, re.MULTILINE)


def test_status_names_who_skips_the_redeem(run: Command, service: Service, name: str) -> None:
    sender = service.client("send", name=name)
    permit = sender.ask("notification", customer_id=name, event_type="t", event_id="1").ok(201)
    sender.report(permit["permit_id"], "sent").ok()
    shown = " ".join(run(service.database, "status", COLUMNS="250").output.split())
    assert f"skipped redeems {name} (key {sender.key_id}) mails without a redeem" in shown


def test_due_shows_money_as_people_write_it(run: Command, service: Service, name: str) -> None:
    due_on = (service.clock - timedelta(days=4)).date().isoformat()
    service.put_invoice(name, customer_id=name, currency="EUR", due_on=due_on).ok()
    service.get("/v1/due").ok()
    done = run(service.database, "due", "--limit", "1000", COLUMNS="200")
    (line,) = [line for line in done.output.splitlines() if name in line]
    assert "300.00 EUR" in line


def test_keys_are_shown_once_and_listed_whole(run: Command, service: Service, name: str) -> None:
    words = ("keys", "create", name, "--scope", "send", "--scope", "facts", "--intents", "a,b")
    made = run(service.database, *words)
    key_id = made.stderr.split(":")[0]
    assert made.stdout.startswith("slk_")
    listed = run(service.database, "keys", "list", COLUMNS="80").stdout
    assert key_id in listed
    assert made.stdout.strip() not in listed
    assert "intents a b" in run(service.database, "keys", "list", COLUMNS="400").stdout
    assert run(service.database, "keys", "revoke", key_id).output == f"{key_id} is revoked\n"
    again = run(service.database, "keys", "revoke", key_id)
    assert (again.exit_code, again.stderr) == (1, f"Error: there is no live key {key_id}\n")


def test_a_key_has_the_scopes_that_somebody_names(
    run: Command, service: Service, name: str
) -> None:
    unnamed = run(service.database, "keys", "create", name)
    assert unnamed.exit_code == 2
    assert "name what it may do, as little as will do: --scopes send" in unnamed.stderr
    made = run(service.database, "keys", "create", name, "--scopes", "send,facts")
    key_id = made.stderr.split(":")[0]
    (listed,) = [
        key for key in service.get("/v1/keys", limit=1000).ok()["items"] if key["key_id"] == key_id
    ]
    assert (listed["scopes"], listed["riding"]) == (["send", "facts"], "all")


def test_a_person_is_asked_for_the_scopes(
    run: Command, service: Service, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.cli.keys._at_a_terminal", lambda: True)
    env = {"LEDGER_DATABASE_URL": service.database, "LEDGER_SECRET": _SECRET, "LEDGER_CONFIG": ""}
    words = ["keys", "create", name]
    made = CliRunner().invoke(main, words, env=env, input="send, audit\n")
    assert made.exit_code == 0, made.output
    assert re.search(r"^  admin +make and revoke keys$", made.stderr, re.MULTILINE)
    (key,) = [k for k in service.get("/v1/keys", limit=1000).ok()["items"] if k["name"] == name]
    assert key["scopes"] == ["send", "audit"]
    again = CliRunner().invoke(main, words, env=env, input="everything\n")
    assert again.exit_code == 2
    assert "scopes.0: Input should be 'send', 'facts'" in again.stderr


def test_limits_are_given_and_listed(run: Command, service: Service, name: str) -> None:
    words = ("keys", "create", name, "--scopes", "send", "--kinds", "reminder,reply")
    more = ("--stages", "day-3", "--customers", f"{name}-1,{name}_*", "--no-addresses")
    made = run(service.database, *words, *more, "--riding", "none")
    assert made.stdout.startswith("slk_")
    shown = run(service.database, "keys", "list", COLUMNS="400").stdout
    rules = f"kinds reminder reply, stages day-3, customers {name}-1 {name}_*, no addresses"
    assert f"redeem required, {rules}, riding none" in shown


def test_limits_that_do_not_fit_the_scopes(run: Command, service: Service, name: str) -> None:
    words = ("keys", "create", name, "--scopes", "send,audit", "--customers", "cus_1")
    refused = run(service.database, *words)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "a key with kinds, stages, customers or without addresses has no scope" in refused.stderr


def test_a_rebuild_shows_its_progress(run: Command, service: Service) -> None:
    done = run(service.database, "projections", "rebuild", "invoices")
    assert done.exit_code == 0
    assert "rebuilding invoices" in done.output
    assert "100%" in done.output
    assert done.output.endswith("invoices is rebuilt and live\n")
