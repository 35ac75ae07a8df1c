"""Importing a sent log beside a running service: its very next answer knows of those mails."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from api.cli.main import main
from tests.support.service import Service, fresh_service

SECRET = "the secret of the imports over HTTP"
Importer = Callable[..., None]


@pytest.fixture(scope="module")
def running(postgres: str) -> Iterator[Service]:
    """A service whose secret the command line knows too."""
    env = {"LEDGER_SECRET": SECRET}
    with fresh_service(postgres, "2026-12-10T09:00:00+00:00", env=env) as service:
        yield service


@pytest.fixture
def service(running: Service) -> Service:
    """The service, a minute on."""
    running.advance(minutes=1)
    return running


@pytest.fixture
def imported(service: Service, tmp_path: Path) -> Importer:
    """Imports rows with the columns of the contract's `send.observed`."""

    def work(*rows: dict[str, Any]) -> None:
        path = tmp_path / "sent.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        names = {"customer": "customer_id", "invoice": "invoice_id", "thread": "thread_id"}
        options = [
            option
            for name in ("customer", "at", "invoice", "stage", "thread", "intent", "id")
            for option in (f"--{name}", names.get(name, name))
        ]
        env = {
            "LEDGER_DATABASE_URL": service.database,
            "LEDGER_SECRET": SECRET,
            "LEDGER_DATA_DIR": str(tmp_path),
            "LEDGER_CONFIG": "",
        }
        done = CliRunner().invoke(main, ["sends", "import", str(path), *options], env=env)
        assert done.exit_code == 0, done.output

    return work


def test_stages_intents_and_windows_are_used_up(
    service: Service, imported: Importer, name: str
) -> None:
    ago = (service.clock - timedelta(hours=1)).isoformat()
    service.put_invoice(f"{name}-i", customer_id=f"{name}-a", due_on="2026-12-06").ok()
    # The engine has these in its memory when the import writes beside it.
    service.send("message", thread_id=f"{name}-t", intent="first", customer_id=f"{name}-b")
    imported(
        {"customer_id": f"{name}-a", "at": ago, "invoice_id": f"{name}-i", "id": f"{name}1"},
        {"customer_id": f"{name}-b", "at": ago, "id": f"{name}2"}
        | {"thread_id": f"{name}-t", "intent": "welcome"},
    )
    original = service.remind(f"{name}-i", "day-3").no(409, "already_sent")["original"]
    assert original["sender"] == "observed:import"
    asked = {"thread_id": f"{name}-t", "customer_id": f"{name}-b"}
    service.ask("message", intent="welcome", **asked).no(409, "duplicate_intent")
    service.ask("message", intent="third", **asked).no(429, "cap_reached")


def test_a_flood_opens_the_breaker_and_pages_and_an_old_one_does_not(
    service: Service, imported: Importer, name: str
) -> None:
    def mails(customer_id: str, age: timedelta) -> list[dict[str, Any]]:
        times = [service.clock - age - timedelta(minutes=n) for n in range(5)]
        return [
            {"customer_id": customer_id, "at": at.isoformat(), "id": f"{customer_id}{at}"}
            for at in times
        ]

    imported(*mails(f"{name}-now", timedelta(hours=1)), *mails(f"{name}-old", timedelta(hours=25)))
    assert service.breaker(f"{name}-now") == "open"
    assert len(service.alerts("breaker_opened", f"{name}-now")) == 1
    assert service.breaker(f"{name}-old") == "closed"
    assert service.alerts("breaker_opened", f"{name}-old") == []
    service.ask("digest", customer_id=f"{name}-now", inbox_id="i", date="2026-12-10").no(
        409, "breaker_open"
    )
    service.ask("digest", customer_id=f"{name}-old", inbox_id="i", date="2026-12-10").ok(201)


def test_a_live_permit_of_an_imported_mail_is_taken_back(
    service: Service, imported: Importer, name: str
) -> None:
    service.put_invoice(f"{name}-i", customer_id=name, due_on="2026-12-06").ok()
    poller = service.client("send")
    permit_id = poller.remind(f"{name}-i").ok(201)["permit_id"]
    row = {"customer_id": name, "at": service.clock.isoformat(), "id": name}
    imported(row | {"invoice_id": f"{name}-i", "stage": "day-3"})
    poller.redeem(permit_id).no(409, "revoked")
    assert service.stages(f"{name}-i")["day-3"] == "sent"
