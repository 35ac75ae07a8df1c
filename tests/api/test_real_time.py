"""A ledger that goes by the real time, and one that may not be turned into a drill."""

import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.support.service import ROOT, SERVE, Service, running_service, service_environ


def test_a_real_ledger_has_no_test_clock(database: str, tmp_path: Path) -> None:
    with running_service(database, None) as service:
        nobody = service.without_key()
        nobody.get("/readyz").ok()
        body = {"now": "2030-01-01T00:00:00Z"}
        service.post("/v1/test-clock", body).no(404, "not_found")
        control = service.get("/v1/control").ok()
        assert control["test_clock"] is False
        now = datetime.fromisoformat(control["now"])
        assert abs(datetime.now(UTC) - now) < timedelta(minutes=1)
        _one_reminder(service, now)
        _lease_runs_out(service)
    refused = _serve_with_test_clock(database, tmp_path)
    assert refused.returncode != 0
    assert "real history" in refused.stderr


def _one_reminder(service: Service, now: datetime) -> None:
    due_on = (now - timedelta(days=4)).date().isoformat()
    service.put_invoice("inv_1", due_on=due_on).ok()
    permit = service.remind("inv_1", redeem=True).ok(201)
    sent_by = datetime.fromisoformat(permit["send_by"])
    granted_at = datetime.fromisoformat(permit["granted_at"])
    assert sent_by - granted_at == timedelta(minutes=10)
    service.report(permit["permit_id"], "sent").ok()
    service.remind("inv_1", "day-3").no(409, "already_sent")


def _lease_runs_out(service: Service) -> None:
    lease = {"ttl_seconds": 1}
    service.post("/v1/jobs/nightly/lease", lease | {"holder": "a"}).ok()
    service.post("/v1/jobs/nightly/lease", lease | {"holder": "b"}).no(409, "not_owner")
    give_up = time.monotonic() + 10
    while service.post("/v1/jobs/nightly/lease", lease | {"holder": "b"}).status == 409:
        assert time.monotonic() < give_up
        time.sleep(0.05)


def _serve_with_test_clock(database: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environ = service_environ(database, folder)
    return subprocess.run(
        [*SERVE, "--test-clock", "2026-12-01T00:00:00Z"],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
