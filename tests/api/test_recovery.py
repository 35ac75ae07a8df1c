"""The case of the restored snapshot over HTTP: all denied, import, known, a human resumes."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.cli.main import main
from ledger.store.migrate import migrate
from ledger.store.witness.witness_file import check_witness
from tests.support.backups import dump, restore_dump
from tests.support.postgres import fresh_database, running_postgres
from tests.support.service import Client, Service, running_service

BACKED_UP = "2026-03-30T07:30:00+00:00"
SENT = "2026-03-30T08:00:00+00:00"
RESTORED = "2026-03-30T13:00:00+00:00"
INVOICES = [f"inv-{number}" for number in range(40)]


@pytest.fixture(scope="module")
def durable() -> Iterator[str]:
    """A server that is as durable as a real one: the guard check looks."""
    with running_postgres() as conninfo:
        yield conninfo


@pytest.fixture
def ledger(durable: str) -> Iterator[str]:
    """A migrated database of the test's own on it."""
    with fresh_database(durable) as conninfo:
        migrate(conninfo)
        yield conninfo


@pytest.fixture
def witness(tmp_path: Path) -> dict[str, str]:
    """The variable that keeps the witness from one run of the service to the next."""
    return {"LEDGER_WITNESS": str(tmp_path / "witness.json")}


def tell(service: Service) -> None:
    facts = [
        {
            "id": name,
            "source": "billing",
            "type": "invoice.observed",
            "data": {
                "invoice_id": name,
                "customer_id": f"cus-{name}",
                "currency": "USD",
                "total": 30_000,
                "amount_remaining": 30_000,
                "status": "open",
                "due_on": "2026-03-26",
            },
        }
        for name in INVOICES
    ]
    service.post("/v1/facts", {"facts": facts}).ok()


def ask_all(client: Client) -> list[str]:
    """`granted`, or the code, of each of the forty requests."""
    requests = [{"kind": "reminder", "invoices": [i], "stage": "day-3"} for i in INVOICES]
    results = client.post("/v1/permits/batch", {"requests": requests}).ok()["results"]
    return ["granted" if r["status"] == 201 else r["problem"]["code"] for r in results]


def send_all(client: Client) -> list[str]:
    """The permits of the forty reminders, each reported sent."""
    requests = [{"kind": "reminder", "invoices": [i], "stage": "day-3"} for i in INVOICES]
    results = client.post("/v1/permits/batch", {"requests": requests}).ok()["results"]
    permits = [result["permit"]["permit_id"] for result in results]
    for permit_id in permits:
        client.report(permit_id, "sent").ok()
    return permits


def sent_log() -> list[dict[str, object]]:
    """What the mail provider says it sent since the backup."""
    return [
        {
            "id": f"mail-{name}",
            "source": "provider",
            "type": "send.observed",
            "data": {
                "customer_id": f"cus-{name}",
                "at": SENT,
                "invoice_id": name,
                "stage": "day-3",
            },
        }
        for name in INVOICES
    ]


def wait_for_recovery(client: Client) -> dict[str, object]:
    """The service notices before anybody asks for a permit."""
    give_up = time.monotonic() + 20
    while True:
        recovery: dict[str, object] | None = client.get("/v1/control").ok()["recovery"]
        if recovery is not None:
            return recovery
        assert time.monotonic() < give_up, "the loss was not noticed"
        time.sleep(0.05)


def test_a_restored_snapshot_mails_nobody_again(
    ledger: str, witness: dict[str, str], tmp_path: Path
) -> None:
    backup = tmp_path / "0730.dump"
    with running_service(ledger, BACKED_UP, env=witness) as service:
        tell(service)
        dump(ledger, backup)
        service.move_clock(SENT)
        old_permits = send_all(service)
        unsent = service.put_invoice("late", due_on="2026-03-26").ok()
        live = service.remind("late").ok(201)["permit_id"]

    restore_dump(ledger, backup)
    with running_service(ledger, RESTORED, env=witness) as service:
        recovery = wait_for_recovery(service)
        assert recovery["import_from"] == "2026-03-30T07:30:00Z"
        assert len(service.alerts("recovery_mode")) == 1
        assert ask_all(service) == ["recovery_mode"] * 40
        for permit_id in (old_permits[0], live):
            service.redeem(permit_id).no(409, "recovery_mode")
        answer = service.remind(INVOICES[0]).no(409, "recovery_mode")
        assert answer["retryable"] is False
        service.get("/v1/due", after=unsent["position"]).no(409, "log_changed")

        results = service.post("/v1/facts", {"facts": sent_log()}).ok()["results"]
        assert {r["result"] for r in results} == {"applied"}
        assert ask_all(service) == ["already_sent"] * 40
        service.put_invoice("new", due_on="2026-03-26").ok()
        service.remind("new").no(409, "recovery_mode")

        resume = {"scope": "recovery", "reason": "log imported", "by": "ann"}
        early = resume | {"guard_check_id": "none"}
        service.post("/v1/control/resume", early).no(409, "guard_not_proven")
        check = service.post("/v1/control/guard-check").ok()
        assert check["passed"] is True, check.body
        proven = resume | {"guard_check_id": check["id"]}
        assert service.post("/v1/control/resume", proven).ok()["recovery"] is None
        assert ask_all(service) == ["already_sent"] * 40
        service.remind("new").ok(201)


def test_a_restore_under_a_running_service_is_noticed_by_every_worker(
    ledger: str, witness: dict[str, str], tmp_path: Path
) -> None:
    backup = tmp_path / "0730.dump"
    with running_service(ledger, BACKED_UP, workers=2, env=witness) as service:
        tell(service)
        service.move_clock(SENT)
        dump(ledger, backup)
        assert ask_all(service) == ["granted"] * 40
        restore_dump(ledger, backup)
        recovery = wait_for_recovery(service)
        assert recovery["import_from"] == "2026-03-30T07:30:00Z"
        for _ in range(5):
            assert ask_all(service) == ["recovery_mode"] * 40
        assert len(service.alerts("recovery_mode")) == 1


def test_a_new_database_in_the_place_of_a_lost_one_is_refused(
    ledger: str, durable: str, witness: dict[str, str], tmp_path: Path
) -> None:
    check_witness(ledger, Path(witness["LEDGER_WITNESS"]))
    with fresh_database(durable) as other:
        migrate(other)
        given = {
            "LEDGER_DATABASE_URL": other,
            "LEDGER_DATA_DIR": str(tmp_path / "data"),
            "LEDGER_SECRET": "a secret of sixteen characters or more",
        }
        done = CliRunner().invoke(main, ["serve", "--port", "0"], env=witness | given)
    assert done.exit_code == 1
    assert "is of the ledger" in done.output
    assert "restore a backup of it" in done.output
    assert "Traceback" not in done.output
