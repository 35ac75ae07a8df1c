"""Keys and scopes: no answer to a missing or lesser key, whatever the request looks like."""

import pytest

from tests.api.routes import PUBLIC, ROUTES, SCOPES, Route
from tests.support.service import Client, Service

_BROKEN = b'{"not json'


@pytest.fixture(scope="module")
def keys(shared_service: Service) -> dict[str, Client]:
    """A key of each scope alone, and one with all the others."""
    alone = {scope: shared_service.client(scope) for scope in SCOPES}
    others = {
        f"all but {scope}": shared_service.client(*[s for s in SCOPES if s != scope])
        for scope in SCOPES
    }
    return alone | others


def test_the_table_names_every_operation_of_the_document(shared_service: Service) -> None:
    """A new endpoint needs a line here, so that its scopes are tested."""
    paths = shared_service.without_key().get("/openapi.json").ok()["paths"]
    served = {
        (method.upper(), path)
        for path, operations in paths.items()
        for method in operations
        if method in ("get", "put", "post", "delete", "patch")
    }
    assert served - PUBLIC == {(route.method, route.path) for route in ROUTES}
    assert served >= PUBLIC


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_no_key_and_wrong_keys_are_401(route: Route, shared_service: Service) -> None:
    for authorization in (
        "",
        "Bearer",
        "Bearer slk_wrong_wrong_wrong_wrong",
        f"Basic {shared_service.key}",
        shared_service.key,
        f"Bearer {shared_service.key}x",
        "Bearer " + "k" * 5000,
        "Bearer \xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7",
    ):
        headers: dict[str, str | bytes] = {}
        if authorization:
            headers["authorization"] = authorization.encode("latin-1")
        for content in (None, _BROKEN):
            answer = shared_service.without_key().call(
                route.method, route.url, route.body, content=content, headers=headers
            )
            answer.no(401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer["retryable"] is False


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_a_lesser_key_is_403_also_for_a_body_that_is_none(
    route: Route, keys: dict[str, Client]
) -> None:
    for scope in SCOPES:
        asked = keys[scope].call(route.method, route.url, route.body)
        broken = keys[scope].call(route.method, route.url, content=_BROKEN)
        if scope in route.scopes:
            assert asked.status not in (401, 403, 500), asked.text
            assert broken.status not in (401, 403, 500), broken.text
        else:
            asked.no(403, "forbidden")
            broken.no(403, "forbidden")


@pytest.mark.parametrize("route", [r for r in ROUTES if len(r.scopes) == 1], ids=str)
def test_every_other_scope_together_is_not_enough(route: Route, keys: dict[str, Client]) -> None:
    (scope,) = route.scopes
    keys[f"all but {scope}"].call(route.method, route.url, route.body).no(403, "forbidden")


def test_a_revoked_key_is_401_from_the_next_call_on(service: Service) -> None:
    client = service.client("send", "facts", "audit")
    client.get("/v1/due").ok()
    service.call("DELETE", f"/v1/keys/{client.key_id}").ok(204)
    for route in ROUTES:
        client.call(route.method, route.url, route.body).no(401, "unauthorized")


def test_the_scheme_is_read_in_any_case(service: Service) -> None:
    headers = {"authorization": f"bearer {service.key}"}
    service.without_key().call("GET", "/v1/policy", headers=headers).ok()


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_several_authorization_headers_are_401(route: Route, shared_service: Service) -> None:
    """A proxy may have judged the one, and the ledger the other."""
    key, wrong = f"Bearer {shared_service.key}", "Bearer slk_wrong_wrong_wrong_wrong"
    for two in ((key, key), (key, wrong), (wrong, key), (key, "")):
        headers = [("authorization", value) for value in two]
        answer = shared_service.http.request(
            route.method, route.url, json=route.body, headers=headers
        )
        assert answer.status_code == 401, answer.text
        problem = answer.json()
        assert problem["code"] == "unauthorized"
        assert problem["detail"] == "the request has several Authorization headers; send one"


def test_a_webhook_with_several_authorization_headers_is_refused(shared_service: Service) -> None:
    headers = [("authorization", "Basic dTpw"), ("authorization", "Basic dTpw")]
    answer = shared_service.http.post("/v1/webhooks/postmark", json={}, headers=headers)
    assert answer.status_code == 401, answer.text


@pytest.mark.parametrize("path", ["/v1/permits/", "/v1/due/", "/healthz/", "/docs/", "/v1/keys/"])
def test_nothing_redirects_to_the_host_that_a_request_names(
    path: str, shared_service: Service
) -> None:
    headers = {"authorization": f"Bearer {shared_service.key}", "host": "attacker.example"}
    answer = shared_service.http.get(path, headers=headers, follow_redirects=False)
    assert "location" not in answer.headers
    assert answer.status_code == 404


def test_the_sender_is_the_key_never_a_field(service: Service, name: str) -> None:
    client = service.client("send", "audit", name=f"poller {name}")
    body = {"kind": "message", "thread_id": name, "intent": "hello", "customer_id": name}
    client.post("/v1/permits", body | {"sender": "somebody else"}).no(422, "invalid_request")
    permit = client.post("/v1/permits", body).ok(201)
    decision = service.get(f"/v1/decisions/{permit['decision_id']}").ok()
    assert decision["sender"] == f"poller {name}"
    client.report(permit["permit_id"], "sent").ok()
    again = service.post("/v1/permits", body).no(409, "duplicate_intent")
    assert again["original"]["sender"] == f"poller {name}"


@pytest.mark.parametrize(("method", "path"), sorted(PUBLIC))
def test_public_calls_need_no_key(method: str, path: str, shared_service: Service) -> None:
    url = path.replace("{code}", "paused").replace("{provider}", "nobody")
    answer = shared_service.without_key().call(method, url)
    assert answer.status == (404 if "webhooks" in path else 200)
