"""A ledger of an older version is upgraded while senders ask: nothing is granted a second time."""

import time
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

from api.cli.main import main
from ledger.store.migrate import migrations
from projections.models import MODELS
from tests.integration.upgrade.conftest import FREE, USED, Upgraded, digest_of_log
from tests.support.service import Service, service_environ

_CODES = {
    "reminder of inv-12": "permit_held",
    "reminder of inv-13": "permit_held",
    "reminder of inv-14": "outcome_unknown",
    "reply": "already_replied",
    "message": "duplicate_intent",
}
"""How a send that was granted before is denied: `already_sent`, where nothing else is said."""

_REBUILT_SECONDS = 60.0


def permit_of(service: Service, invoice_id: str) -> str:
    """The permit that the older program granted for a reminder of this invoice."""
    with psycopg.connect(service.database) as connection:
        row = connection.execute(
            "SELECT permit_id::text FROM permits WHERE customer_id = %s", [f"cus-{invoice_id}"]
        ).fetchone()
    assert row is not None
    return str(row[0])


def live_versions(database: str) -> dict[str, int]:
    """The version of each read model's live generation."""
    with psycopg.connect(database) as connection:
        return dict(
            connection.execute(
                "SELECT name, version FROM projections"
                " JOIN projection_generations USING (partition, name, generation)"
            ).fetchall()
        )


def test_senders_asked_before_anything_listened_and_until_both_processes_did(
    upgraded: Upgraded,
) -> None:
    assert upgraded.refused > 4
    answers = {name: len(codes) for name, codes in upgraded.codes.items()}
    assert answers == dict.fromkeys([*USED, *FREE], 8)


@pytest.mark.parametrize("send", USED)
def test_what_was_granted_before_is_not_granted_again(upgraded: Upgraded, send: str) -> None:
    assert set(upgraded.codes[send]) == {_CODES.get(send, "already_sent")}


@pytest.mark.parametrize("send", FREE)
def test_what_was_free_is_granted_once(upgraded: Upgraded, send: str) -> None:
    assert upgraded.codes[send].count("granted") == 1
    assert set(upgraded.codes[send]) == {"granted", "permit_held"}


def test_the_schema_is_that_of_this_version(upgraded: Upgraded) -> None:
    with psycopg.connect(upgraded.first.database) as connection:
        rows = connection.execute("SELECT number, checksum FROM migrations ORDER BY number")
        assert rows.fetchall() == [(m.number, m.checksum) for m in migrations()]


def test_the_old_log_is_byte_for_byte_what_it_was(upgraded: Upgraded) -> None:
    end, _ = upgraded.before
    assert digest_of_log(upgraded.first.database, end) == upgraded.before


def test_the_whole_log_verifies(upgraded: Upgraded) -> None:
    found = upgraded.first.get("/v1/audit/verify").ok()
    assert (found["ok"], found["complete"]) == (True, True)
    assert found["checked"] > upgraded.before[0]


def test_read_models_are_those_of_this_version(upgraded: Upgraded) -> None:
    """A read model of an older version is rebuilt beside the old one, then switched."""
    invoice = upgraded.second.get("/v1/invoices/inv-00").ok()
    assert {stage["stage"]: stage["state"] for stage in invoice["stages"]}["day-3"] == "sent"
    assert upgraded.second.get("/v1/invoices/inv-19").ok()["amount_remaining"] == 20_000
    wanted = {name: model.version for name, model in MODELS.items()}
    give_up = time.monotonic() + _REBUILT_SECONDS
    while live_versions(upgraded.first.database) != wanted:
        assert time.monotonic() < give_up, live_versions(upgraded.first.database)
        time.sleep(0.05)


def test_what_humans_had_decided_holds(upgraded: Upgraded) -> None:
    service = upgraded.first
    service.ask("follow_up", thread_id="thr-1", step=1).no(409, "paused")
    assert service.breaker("cus-flooded") == "open"
    told = {"event_type": "order.shipped", "event_id": "ord-2"}
    service.ask("notification", **told, customer_id="cus-flooded").no(409, "breaker_open")
    service.ask("notification", **told, customer_id="cus-held").no(409, "on_hold")


def test_windows_of_customers_go_on(upgraded: Upgraded) -> None:
    """One mail each today, so the cap of two a day leaves one; a merged customer has one window."""
    told = {"event_type": "order.shipped", "customer_id": "cus-inv-00"}
    upgraded.first.send("notification", **told, event_id="ord-3")
    upgraded.second.ask("notification", **told, event_id="ord-4").no(429, "cap_reached")


def test_a_permit_granted_before_is_redeemed_and_reported_after(upgraded: Upgraded) -> None:
    permit = permit_of(upgraded.first, "inv-12")
    upgraded.first.redeem(permit, "attempt-1").ok()
    upgraded.second.redeem(permit, "attempt-2").no(409, "already_redeemed")
    upgraded.second.report(permit, "sent").ok()
    upgraded.first.remind("inv-12", "day-3").no(409, "already_sent")


def test_the_command_line_explains_an_old_decision_and_verifies_the_log(
    upgraded: Upgraded, tmp_path: Path
) -> None:
    with psycopg.connect(upgraded.first.database) as connection:
        row = connection.execute(
            "SELECT decision_id::text FROM decisions WHERE code = 'already_sent'"
            " ORDER BY position LIMIT 1"
        ).fetchone()
    assert row is not None
    env = service_environ(upgraded.first.database, tmp_path)
    told = CliRunner().invoke(main, ["explain", row[0]], env=env)
    assert (told.exit_code, "already_sent" in told.stdout) == (0, True), told.output
    verified = CliRunner().invoke(main, ["audit", "verify"], env=env)
    assert verified.exit_code == 0, verified.output
