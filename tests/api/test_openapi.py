"""The OpenAPI document: complete, its examples true, and nothing answers outside it."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.http.app import openapi_of
from api.http.openapi_examples import ASKED, PERMITS
from api.http.problem_types import WITH_PROBLEMS_INSIDE
from api.process.assembly import build_app
from api.settings.environment import load_settings
from ledger.domain.reasons import REASONS
from tests.api.routes import PUBLIC, ROUTES
from tests.support.service import Client, Service, fresh_service

_REQUESTS = int(os.environ.get("LEDGER_TEST_SCHEMATHESIS_REQUESTS", "500"))
_FUZZ_KEYS = {"LEDGER_WEBHOOK_STRIPE_SECRET": "whsec_fuzz", "LEDGER_WEBHOOK_RESEND_SECRET": "x"}


def _document() -> dict[str, Any]:
    given = {"LEDGER_SECRET": "a secret for the document", "LEDGER_DATA_DIR": "/nonexistent"}
    return openapi_of(build_app(load_settings(given), "dbname=none", True))


DOCUMENT = _document()
OPERATIONS = {
    (method.upper(), path): operation
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
}


def test_types_are_made_absolute_in_every_answer_that_has_problems_inside() -> None:
    batches = {
        path
        for (_, path), operation in OPERATIONS.items()
        if "#/components/schemas/BatchAnswer" in json.dumps(operation["responses"])
    }
    assert batches == WITH_PROBLEMS_INSIDE


def _without_security(document: dict[str, Any]) -> dict[str, Any]:
    """The document for the fuzzer, which would leave keys out by itself: here tests choose them."""
    copy = json.loads(json.dumps(document))
    del copy["components"]["securitySchemes"]
    for operations in copy["paths"].values():
        for operation in operations.values():
            operation.pop("security", None)
    return dict(copy)


_SCHEMA = schemathesis.openapi.from_dict(_without_security(DOCUMENT))


def test_the_document_served_is_this_one(shared_service: Service) -> None:
    assert shared_service.without_key().get("/openapi.json").ok().body == DOCUMENT


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=map(" ".join, OPERATIONS))
def test_every_operation_is_described(operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["tags"]
    assert operation["operationId"]
    for status, response in operation["responses"].items():
        assert response["description"]
        if status < "400":
            continue
        (content,) = response["content"].items()
        assert content[0] == "application/problem+json"
        assert content[1]["schema"] == {"$ref": "#/components/schemas/Problem"}
        for code, example in content[1]["examples"].items():
            assert example["value"]["code"] == code
            assert str(example["value"]["status"]) == status


@pytest.mark.parametrize("where", [o for o in OPERATIONS if o not in PUBLIC], ids=" ".join)
def test_every_call_with_a_key_says_what_happens_without(where: tuple[str, str]) -> None:
    operation = OPERATIONS[where]
    assert operation["security"]
    assert {"401", "403", "422", "503"} <= set(operation["responses"])
    success = [status for status in operation["responses"] if status < "300"]
    assert success
    for status in success:
        if status != "204":
            for content in operation["responses"][status]["content"].values():
                assert content["schema"]
    if "requestBody" in operation:
        assert "413" in operation["responses"]
        for content in operation["requestBody"]["content"].values():
            assert content["examples"]


def _schemas(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema with properties, outside of examples."""
    if isinstance(node, list):
        for item in node:
            yield from _schemas(item)
    elif isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield node
        for name, value in node.items():
            if name not in ("example", "examples"):
                yield from _schemas(value)


def test_what_may_be_left_out_is_optional_for_generators_of_types() -> None:
    found = list(_schemas(DOCUMENT))
    assert len(found) > 100
    for schema in found:
        for name, about in schema["properties"].items():
            assert "default" not in about, (schema.get("title"), name)
    limit = DOCUMENT["components"]["schemas"]["ClaimRequest"]["properties"]["limit"]
    assert limit["description"] == "Left out, it is 100."


def test_no_two_schemas_give_a_generator_one_name() -> None:
    """An enum is named by its schema and property: `Incident` and `state` make `IncidentState`."""
    schemas = DOCUMENT["components"]["schemas"]
    enums = {
        f"{name}{prop.title().replace('_', '')}"
        for name, schema in schemas.items()
        for prop, about in schema.get("properties", {}).items()
        if "enum" in about or "const" in about
    }
    assert not enums & schemas.keys()


def test_every_code_of_a_permit_is_in_the_document() -> None:
    responses = OPERATIONS["POST", "/v1/permits"]["responses"]
    shown = {
        code
        for response in responses.values()
        for content in response["content"].values()
        for code in content.get("examples", ())
    }
    at_redeem = {"already_redeemed", "revoked", "expired"}
    of_others = {"already_settled", "guard_not_proven", "unknown_permit"}
    assert set(REASONS) - at_redeem - of_others <= shown


def test_examples_are_of_calls_that_exist() -> None:
    assert {(method.upper(), path) for method, path in ASKED} <= set(OPERATIONS)


@pytest.fixture(scope="module")
def fuzzed(postgres: str) -> Iterator[Service]:
    """A service of its own: requests pause it, move its clock and erase its customers."""
    with fresh_service(postgres, "2026-12-01T00:00:00+00:00", env=_FUZZ_KEYS) as service:
        yield service


@pytest.fixture(scope="module")
def known(fuzzed: Service) -> dict[str, str]:
    """Ids that exist, so that not every request ends at 404."""
    fuzzed.put_invoice("inv_1", customer_id="cus_1", due_on="2026-11-20").ok()
    fuzzed.put_invoice("inv_2", customer_id="cus_1", due_on="2026-11-20").ok()
    permit = fuzzed.ask("message", thread_id="thr_1", intent="x", customer_id="cus_1").ok(201)
    fuzzed.ask("message", thread_id="thr_1", intent="y").ok(201)
    fuzzed.ask("message", thread_id="thr_1", intent="z").no(429, "cap_reached")
    declared = {"title": "t", "from": "2026-11-01T00:00:00Z", "to": "2026-12-02T00:00:00Z"}
    incident = fuzzed.post("/v1/incidents", declared | {"cause": "c"}).ok(201)["incident_id"]
    return {
        "invoice_id": "inv_1",
        "customer_id": "cus_1",
        "permit_id": permit["permit_id"],
        "decision_id": permit["decision_id"],
        "incident_id": incident,
        "alert_id": str(fuzzed.alerts("breaker_opened")[0]["alert_id"]),
        "name": "customers",
        "job": "nightly",
        "code": "paused",
        "provider": "stripe",
    }


@pytest.fixture(scope="module")
def lesser(fuzzed: Service) -> dict[str, Client]:
    """A key for each operation that has every scope but those that may make it."""
    keys: dict[tuple[str, ...], Client] = {}
    found = {}
    for route in ROUTES:
        others = tuple(s for s in ("send", "facts", "operate", "audit", "admin"))
        others = tuple(s for s in others if s not in route.scopes)
        if others and others not in keys:
            keys[others] = fuzzed.client(*others)
        if others:
            found[f"{route.method} {route.path}"] = keys[others]
    return found


@pytest.mark.parametrize("where", OPERATIONS, ids=" ".join)
def test_no_request_is_answered_outside_the_document(
    where: tuple[str, str],
    fuzzed: Service,
    known: dict[str, str],
    lesser: dict[str, Client],
) -> None:
    """Valid and broken requests: no 5xx, nothing undocumented, nothing for a lesser key."""
    method, path = where
    operation = _SCHEMA[path][method]
    modes = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]
    checks = [not_a_server_error, status_code_conformance, content_type_conformance]
    checks.append(response_schema_conformance)
    session = requests.Session()
    seen: Counter[int] = Counter()
    url = str(fuzzed.http.base_url)

    def ask(case: Case[Any], key: str) -> Response:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        answer = case.call(base_url=url, session=session, headers=headers)
        seen[answer.status_code] += 1
        return answer

    @settings(
        max_examples=max(2, _REQUESTS * 2 // (3 * len(OPERATIONS))),
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(modes), exists=st.booleans(), also_without=st.integers(0, 3))
    def fuzz(case: Case[Any], exists: bool, also_without: int) -> None:
        if exists:
            case.path_parameters = {n: known.get(n, v) for n, v in case.path_parameters.items()}
        case.validate_response(ask(case, fuzzed.key), checks=checks)
        if where in PUBLIC or also_without > 1:
            return
        key, status = ("", 401) if also_without else (_lesser_key(lesser, where), 403)
        if key is not None:
            assert ask(case, key).status_code == status

    fuzz()
    assert set(seen) - {401, 403, 503}, f"only {dict(seen)}: the requests did not get through"


def _lesser_key(lesser: dict[str, Client], where: tuple[str, str]) -> str | None:
    client = lesser.get(" ".join(where))
    return client.key if client is not None else None


@pytest.mark.parametrize("example", PERMITS.values(), ids=PERMITS)
def test_examples_of_permits_fit(example: dict[str, Any], fuzzed: Service) -> None:
    assert fuzzed.post("/v1/permits", example).code != "invalid_request"


@pytest.mark.parametrize("where", [w for w in ASKED if "test-clock" not in w[1]], ids=" ".join)
def test_other_examples_fit(where: tuple[str, str], fuzzed: Service) -> None:
    method, path = where
    for media_type, examples in ASKED[where].items():
        for example in examples.values():
            answer = fuzzed.call(
                method,
                _example_path(path),
                example["value"],
                headers={"content-type": media_type},
            )
            assert answer.code not in ("invalid_request", "internal_error"), answer.text
            assert str(answer.status) in OPERATIONS[method.upper(), path]["responses"]


def _example_path(path: str) -> str:
    return next(route.url for route in ROUTES if route.path == path)
