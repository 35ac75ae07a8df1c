"""Pause and resume on a ledger of its own, because a pause binds everybody."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from api.contract.fields import Kind
from api.contract.people import PauseRequest
from ledger.domain.identity import RESERVED_CUSTOMER_PREFIX
from tests.conftest import wanted_postgres
from tests.support.postgres import running_postgres
from tests.support.service import Answer, Client, Service, fresh_service

_DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def pausable() -> Iterator[Service]:
    """A service that this file pauses, on a durable store: without one no guard check passes."""
    with (
        running_postgres(wanted_postgres() or "embedded") as conninfo,
        fresh_service(conninfo, "2026-12-01T00:00:00+00:00") as service,
    ):
        yield service


@pytest.fixture
def service(pausable: Service) -> Iterator[Service]:
    """The pausable service without any pause."""
    pausable.advance(minutes=1)
    yield pausable
    for pause in pausable.get("/v1/control").ok()["pauses"]:
        _resume(pausable, pause["scope"]).ok()


def _pause(service: Client, scope: str) -> Answer:
    return service.post("/v1/control/pause", {"scope": scope, "reason": "a test", "by": "ann"})


def _resume(service: Client, scope: str, check: str | None = None) -> Answer:
    check = check or service.post("/v1/control/guard-check").ok()["id"]
    body = {"scope": scope, "reason": "mended", "guard_check_id": check, "by": "bob"}
    return service.post("/v1/control/resume", body)


def _message(client: Client, name: str, intent: str = "x") -> Answer:
    return client.ask("message", thread_id=f"{name}-{intent}", intent=intent, customer_id=name)


def _reply(client: Client, service: Service, name: str, number: int) -> Answer:
    message = {
        "thread_id": f"{name}-talk",
        "message_id": f"<{number}.{name}@example.com>",
        "direction": "inbound",
        "from": f"{name}@example.com",
        "to": "us@example.net",
        "customer_id": name,
        "at": service.clock.isoformat(),
    }
    asked = {"thread_id": message["thread_id"], "in_reply_to": message["message_id"]}
    return client.ask("reply", **asked, message=message)


def test_control_says_what_is_paused(service: Service) -> None:
    running = service.get("/v1/control").ok()
    assert (running["paused"], running["pauses"], running["recovery"]) == (False, [], None)
    paused = _pause(service, "outreach").ok()
    assert int(paused["position"]) > 0
    control = service.get("/v1/control").ok()
    since = service.clock.isoformat().replace("+00:00", "Z")
    assert control["paused"] is True
    assert control["pauses"] == [
        {"scope": "outreach", "since": since, "reason": "a test", "by": "ann"}
    ]
    assert control["now"] == since


SCOPES: dict[str, dict[str, str | None]] = {
    "all": {"message": "paused", "reply": "paused", "digest": "paused", "receipt": "paused"},
    "outreach": {"message": "paused", "reply": None, "digest": "paused", "receipt": None},
    "kind:digest": {"message": None, "reply": None, "digest": "paused", "receipt": None},
    "kind:reply": {"message": None, "reply": "paused", "digest": None, "receipt": None},
    "sender:{}": {"message": "paused", "reply": "paused", "digest": "paused", "receipt": None},
    "sender:nobody": {"message": None, "reply": None, "digest": None, "receipt": None},
}


@pytest.mark.parametrize("scope", SCOPES)
def test_a_pause_binds_its_scope(scope: str, service: Service, name: str) -> None:
    sender = service.client("send", name=f"sender-{name}")
    receipts = service.client("send", **{"class": "transactional"})
    _pause(service, scope.format(sender.name)).ok()
    answers = {
        "message": _message(sender, name),
        "reply": _reply(sender, service, name, 1),
        "digest": sender.ask("digest", customer_id=name, inbox_id="i", date="2026-12-04"),
        "receipt": receipts.ask(
            "notification", customer_id=name, event_type="receipt", event_id="1"
        ),
    }
    for what, code in SCOPES[scope].items():
        if code is None:
            answers[what].ok(201)
        else:
            problem = answers[what].no(409, code)
            assert problem["retryable"] is False
            assert "a test" in problem["detail"]


def test_a_live_permit_fails_its_redeem_also_after_a_resume(service: Service, name: str) -> None:
    before, during = (_message(service, f"{name}-{n}").ok(201)["permit_id"] for n in range(2))
    _pause(service, "all").ok()
    problem = service.redeem(before).no(409, "revoked")
    assert "paused" in problem["detail"]
    _resume(service, "all").ok()
    service.redeem(during).no(409, "revoked")
    after = _message(service, f"{name}-0").ok(201)["permit_id"]
    service.redeem(after).ok()


def test_a_pause_of_something_else_revokes_nothing(service: Service, name: str) -> None:
    permit = _message(service, name).ok(201)["permit_id"]
    _pause(service, "kind:digest").ok()
    _pause(service, "sender:somebody else").ok()
    service.redeem(permit).ok()


def test_a_resume_needs_a_guard_check_since_the_pause(service: Service, name: str) -> None:
    early = service.post("/v1/control/guard-check").ok()
    _pause(service, "outreach").ok()
    for check in (early["id"], "made up"):
        _resume(service, "outreach", check).no(409, "guard_not_proven")
    _message(service, name).no(409, "paused")
    check = service.post("/v1/control/guard-check").ok()
    assert check["passed"] is True, check["checks"]
    for probe in check["checks"]:
        assert set(probe) == {"name", "passed", "detail"}
        assert probe["passed"] is True
    without = {"scope": "outreach", "reason": "r"}
    service.post("/v1/control/resume", without).no(409, "guard_not_proven")
    resumed = _resume(service, "outreach", check["id"]).ok()
    assert resumed["pauses"] == []
    _message(service, name).ok(201)


def test_a_check_proves_nothing_about_a_later_pause(service: Service) -> None:
    _pause(service, "outreach").ok()
    check = service.post("/v1/control/guard-check").ok()["id"]
    _pause(service, "outreach").ok()
    _resume(service, "outreach", check).no(409, "guard_not_proven")


def test_pauses_are_lifted_one_by_one(service: Service, name: str) -> None:
    _pause(service, "all").ok()
    _pause(service, "kind:message").ok()
    _resume(service, "all").ok()
    _message(service, name).no(409, "paused")
    _resume(service, "kind:message").ok()
    _message(service, name).ok(201)


@pytest.mark.parametrize(
    "scope", ["", "everything", "kind:newsletter", "kind:", "sender:", "sender:a\nb", "ALL", None]
)
def test_a_scope_is_one_of_the_contracts(scope: Any, service: Service) -> None:
    service.post("/v1/control/pause", {"scope": scope, "reason": "r"}).no(422, "invalid_request")


def test_a_pause_does_not_hide_duplicates(service: Service, name: str) -> None:
    """The order of the guards: a final duplicate comes before the pause."""
    service.send("message", thread_id=name, intent="x", customer_id=name)
    _pause(service, "all").ok()
    service.ask("message", thread_id=name, intent="x").no(409, "duplicate_intent")
    service.ask("message", thread_id=name, intent="y").no(409, "paused")


def test_the_synthetic_customer_is_nobodys(service: Service, name: str) -> None:
    reserved = f"{RESERVED_CUSTOMER_PREFIX}{name}"
    _message(service, reserved).no(422, "invalid_request")
    before = service.get("/v1/due").ok()["items"]
    service.post("/v1/control/guard-check").ok()
    assert service.get("/v1/due").ok()["items"] == before
    alerts = service.get("/v1/alerts", kind="breaker_opened").ok()["items"]
    assert alerts
    assert {alert["drill"] for alert in alerts} == {True}


def test_a_resume_that_names_no_guard_check_is_not_proven(service: Service) -> None:
    _pause(service, "kind:digest").ok()
    unproven = {"scope": "kind:digest", "reason": "mended"}
    service.post("/v1/control/resume", unproven).no(409, "guard_not_proven")
    service.post("/v1/control/resume", unproven | {"guard_check_id": None}).no(
        409, "guard_not_proven"
    )
    assert [p["scope"] for p in service.get("/v1/control").ok()["pauses"]] == ["kind:digest"]


def test_a_named_human_accepts_the_clock(service: Service) -> None:
    """Whether or not it is suspect: another process may suspect it. The answer tells the time."""
    why = {"reason": "the machine was suspended", "by": "ann"}
    accepted = service.post("/v1/control/clock/accept", why).ok()
    assert accepted["result"] == "applied"
    assert accepted["now"] == service.clock.isoformat().replace("+00:00", "Z")
    assert service.get("/v1/control").ok()["clock_suspect"] is None
    for missing in why:
        body = {name: text for name, text in why.items() if name != missing}
        service.post("/v1/control/clock/accept", body).no(422, "invalid_request")


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_can_be_paused_and_no_other_word(kind: str) -> None:
    assert PauseRequest(scope=f"kind:{kind}", reason="a test").scope == f"kind:{kind}"
    with pytest.raises(ValidationError):
        PauseRequest(scope=f"kind:{kind}s", reason="a test")


@pytest.mark.parametrize("scope", ["all", "outreach", "kind:reminder", "sender:{}"])
def test_a_claim_under_a_pause_denies_one_customer_and_not_each(
    service: Service, name: str, scope: str
) -> None:
    """Pollers go on claiming: a row for each due customer would fill the decision log."""
    poller = service.client("send", name=f"poller-{name}")
    _due(service, name, 3)
    _pause(service, scope.format(poller.name)).ok()
    claim = poller.post("/v1/due/claim", {"limit": 100}).ok()
    assert claim["permits"] == []
    assert [withheld["code"] for withheld in claim["withheld"]] == ["paused"]
    denials = service.get("/v1/decisions", sender=poller.name).ok()["items"]
    assert [denial["code"] for denial in denials] == ["paused"]


@pytest.mark.parametrize("scope", ["kind:reply", "sender:nobody"])
def test_a_pause_of_others_leaves_a_claim_whole(service: Service, name: str, scope: str) -> None:
    poller = service.client("send", name=f"poller-{name}")
    _due(service, name, 3)
    _pause(service, scope).ok()
    permits = poller.post("/v1/due/claim", {"limit": 1000}).ok()["permits"]
    assert len([p for p in permits if p["customer_id"].startswith(name)]) == 3


def _due(service: Service, name: str, customers: int) -> None:
    """As many customers with an invoice whose first reminder is due."""
    day = (service.clock - timedelta(days=4)).date().isoformat()
    for number in range(customers):
        service.put_invoice(f"{name}-{number}", customer_id=f"{name}-{number}", due_on=day).ok()
