"""The diagnosis of a ledger that was set up badly, or that sources and people have left alone."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.store.witness.witness_file import WitnessFile
from tests.support.service import Service, fresh_service

_START = "2026-12-01T00:00:00+00:00"


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    """Where the service keeps its witness."""
    return tmp_path / "witness.json"


@pytest.fixture
def service(postgres: str, witness: Path) -> Iterator[Service]:
    """A service that pages nobody, on a store that does not survive a crash."""
    with fresh_service(postgres, _START, env={"LEDGER_WITNESS": str(witness)}) as service:
        yield service


def _found(service: Service) -> dict[str, dict[str, str]]:
    answer = service.get("/v1/diagnosis").ok()
    assert answer["ok"] is all(finding["level"] == "note" for finding in answer["findings"])
    levels = [finding["level"] for finding in answer["findings"]]
    assert levels == sorted(levels, reverse=True), "what is wrong comes first"
    return {finding["code"]: finding for finding in answer["findings"]}


def _written(witness: Path, position: str) -> None:
    """Wait until the witness knows of the position: nothing writes it again before the next."""
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        record = WitnessFile(witness).read()
        if record is not None and record.mark.position >= int(position):
            return
        time.sleep(0.02)
    raise AssertionError("the witness was not written")


def test_what_is_wrong_is_found_and_ends_when_it_is_mended(service: Service, witness: Path) -> None:
    found = _found(service)
    assert set(found) == {
        "not_durable",
        "no_alert_target",
        "test_clock",
        "message_id_domain",
        "not_archived",
    }
    assert "fsync = off" in found["not_durable"]["what"]
    assert "LEDGER_ALERT_URLS" in found["no_alert_target"]["advice"]

    _written(witness, service.put_invoice("inv", customer_id="cus").ok()["position"])
    witness.unlink()
    assert str(witness) in _found(service)["witness_missing"]["what"]
    witness.write_text("not a witness", encoding="utf-8")
    assert "is damaged" in _found(service)["witness_missing"]["what"]
    witness.unlink()

    service.advance(days=8)
    silent = _found(service)["feed_silent"]
    assert silent["what"] == "the source put:first was last heard 2026-12-01 00:00 UTC"
    service.put_invoice("inv", customer_id="cus", amount_remaining=100).ok()
    found = _found(service)
    assert "feed_silent" not in found
    assert "alerts_unseen" in found


def test_bodies_that_could_not_be_used_are_counted(postgres: str) -> None:
    env = {"LEDGER_WEBHOOK_POSTMARK_SECRET": "u:p"}
    with fresh_service(postgres, _START, env=env) as service:
        for number in range(2):
            answer = service.without_key().call(
                "POST",
                "/v1/webhooks/postmark",
                content=f'{{"RecordType": "Bounce", "n": {number}}}',
                headers={"authorization": "Basic dTpw"},
            )
            assert answer.status == 200
        found = _found(service)
        assert found["webhooks_rejected"]["what"] == "2 webhook bodies could not be used"
