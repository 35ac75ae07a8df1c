"""Single owner of a job: leases with fencing tokens."""

from datetime import timedelta

from tests.support.service import Answer, Client, Service


def _take(client: Client, job: str, holder: str, ttl: int = 60) -> Answer:
    return client.post(f"/v1/jobs/{job}/lease", {"holder": holder, "ttl_seconds": ttl})


def _ask(client: Client, name: str, job: str, token: int) -> Answer:
    fields = {"thread_id": f"{name}-{token}", "intent": "x", "customer_id": name}
    return client.ask("message", **fields, job={"name": job, "token": token})


def test_a_lease_has_one_holder(service: Service, name: str) -> None:
    first = _take(service, name, "a").ok()
    expires_at = service.clock + timedelta(seconds=60)
    assert first["expires_at"] == expires_at.isoformat().replace("+00:00", "Z")
    problem = _take(service, name, "b").no(409, "not_owner")
    assert problem["available_at"] == first["expires_at"]
    assert problem["retryable"] is True
    service.advance(seconds=30)
    renewed = _take(service, name, "a").ok()
    assert renewed["token"] == first["token"]
    assert renewed["expires_at"] > first["expires_at"]
    service.advance(seconds=60)
    second = _take(service, name, "b").ok()
    assert second["token"] > first["token"]
    _take(service, name, "a").no(409, "not_owner")


def test_a_request_under_a_lease_needs_the_current_token(service: Service, name: str) -> None:
    old = _take(service, name, "a").ok()["token"]
    _ask(service, name, name, old).ok(201)
    service.advance(seconds=60)
    _ask(service, f"{name}-expired", name, old).no(409, "not_owner")
    new = _take(service, name, "b").ok()["token"]
    problem = _ask(service, f"{name}-old", name, old).no(409, "not_owner")
    assert problem["retryable"] is True
    _ask(service, f"{name}-made-up", name, new + 1).no(409, "not_owner")
    _ask(service, f"{name}-no-job", f"{name}-other", new).no(409, "not_owner")
    _ask(service, name, name, new).ok(201)


def test_a_lease_is_given_up(service: Service, name: str) -> None:
    path = f"/v1/jobs/{name}/lease"
    service.call("DELETE", path).ok(204)
    first = _take(service, name, "a").ok()
    service.call("DELETE", path, {"holder": "b"}).no(409, "not_owner")
    service.call("DELETE", path, params={"token": first["token"] + 1}).no(409, "not_owner")
    _ask(service, name, name, first["token"]).ok(201)
    service.call("DELETE", path, {"holder": "a", "token": first["token"]}).ok(204)
    _ask(service, f"{name}-given-up", name, first["token"]).no(409, "not_owner")
    second = _take(service, name, "b").ok()
    assert second["token"] > first["token"]
    service.call("DELETE", path, params={"holder": "b"}).ok(204)
    _take(service, name, "a").ok()
    service.call("DELETE", path).ok(204)
    _take(service, name, "b").ok()


def test_a_time_to_live_is_from_a_second_to_a_day(service: Service, name: str) -> None:
    for ttl in (0, -1, 86_401, 1.5, "60", None, True):
        body = {"holder": "a", "ttl_seconds": ttl}
        service.post(f"/v1/jobs/{name}/lease", body).no(422, "invalid_request")
    _take(service, name, "a", 86_400).ok()
    _take(service, name, "a", 1).ok()
