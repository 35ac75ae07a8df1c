"""The log is verified over HTTP in bounded steps, and tampering is named where it is."""

from typing import Any

import psycopg
import pytest

from tests.support.service import Answer, Service
from tests.support.tampering import tamper


@pytest.fixture
def log(service: Service, name: str) -> Service:
    """A service whose log has some events of this test's own at its end."""
    for number in range(3):
        service.put_invoice(f"{name}-{number}", due_on="2026-11-26").ok()
        service.remind(f"{name}-{number}").ok(201)
    return service


def verify(service: Service, **wanted: Any) -> Answer:
    return service.get("/v1/audit/verify", **wanted).ok()


def stored(service: Service, position: int) -> str:
    with psycopg.connect(service.database) as connection:
        row = connection.execute(
            "SELECT encode(hash, 'hex') FROM events WHERE position = %s", [position]
        ).fetchone()
    assert row is not None
    digest: str = row[0]
    return digest


def test_a_log_that_nobody_touched_is_good(log: Service) -> None:
    found = verify(log)
    end = int(found["end"])
    assert (found["ok"], found["complete"], found["checked"]) == (True, True, end)
    assert (found["first_bad_position"], found["problem"], found["next"]) == (None, None, None)
    assert found["head"] == str(end)
    assert found["head_hash"] == stored(log, end)


def test_steps_lead_to_the_end(log: Service) -> None:
    """Each goes on where the one before stopped, by its hash and not by what stands there now."""
    end = int(verify(log)["end"])
    step, seen, following = end // 3 + 1, 0, "0"
    for _ in range(3):
        found = verify(log, from_=following, limit=step)
        assert found["ok"] is True
        seen += found["checked"]
        following = found["next"]
        assert found["complete"] is (following is None)
    assert seen == end
    assert following is None
    rest = verify(log, from_=str(end - 2))
    assert (rest["ok"], rest["checked"]) == (True, 2)


def test_what_was_changed_is_named_and_a_step_that_begins_after_it_is_not_fooled(
    log: Service,
) -> None:
    end = int(verify(log)["end"])
    bad = end - 4
    before = verify(log, limit=bad)
    tamper(
        log.database,
        f"UPDATE events SET recorded_at = recorded_at + interval '1 second' WHERE position = {bad}",
    )
    try:
        found = verify(log)
        assert (found["ok"], found["complete"], found["next"]) == (False, False, None)
        assert (found["first_bad_position"], found["problem"]) == (str(bad), "changed")
        assert found["head"] == str(bad - 1)
        assert verify(log, from_=str(bad))["ok"] is True
        assert verify(log, from_=before["next"])["ok"] is True
    finally:
        tamper(
            log.database,
            "UPDATE events SET recorded_at = recorded_at - interval '1 second'"
            f" WHERE position = {bad}",
        )
    assert verify(log)["ok"] is True
    wrong = f"{bad}-{'00' * 32}"
    rewritten = verify(log, from_=wrong)
    assert (rewritten["ok"], rewritten["problem"]) == (False, "rewritten")
    assert rewritten["first_bad_position"] == str(bad)


@pytest.mark.parametrize("after", ["x", "-1", "1-", "1-zz", "1" * 19, "1-" + "0" * 63])
def test_a_place_that_is_none_is_refused(service: Service, after: str) -> None:
    service.get("/v1/audit/verify", from_=after).no(422, "invalid_request")


def test_a_place_beyond_the_end_is_not_there(service: Service) -> None:
    service.get("/v1/audit/verify", from_="999999999").no(404, "not_found")


@pytest.mark.parametrize("limit", [0, 1_000_001])
def test_a_step_is_bounded(service: Service, limit: int) -> None:
    service.get("/v1/audit/verify", limit=limit).no(422, "invalid_request")
