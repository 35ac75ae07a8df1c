"""One shared service for HTTP tests: its clock moves a minute per test, and ids are unique."""

import uuid
from collections.abc import Iterator

import psycopg
import pytest

from tests.support.service import Client, Service, fresh_service


@pytest.fixture(scope="session")
def shared_service(postgres: str) -> Iterator[Service]:
    """A service on a test clock, for tests that use ids of their own and pause nothing."""
    with fresh_service(postgres, "2026-12-01T00:00:00+00:00", env=WEBHOOKS) as service:
        yield service


WEBHOOKS = {"LEDGER_WEBHOOK_STRIPE_SECRET": "whsec_test", "LEDGER_WEBHOOK_POSTMARK_SECRET": "u:p"}
"""The webhook endpoints that the shared service has credentials for."""


@pytest.fixture
def service(shared_service: Service) -> Service:
    """The shared service, its clock a minute on: nothing of an earlier test is of this minute."""
    shared_service.advance(minutes=1)
    return shared_service


@pytest.fixture
def name() -> str:
    """A text that is in no other test's ids."""
    return uuid.uuid4().hex[:12]


@pytest.fixture
def claimer(service: Service) -> Client:
    """A poller's key; what others left due is claimed away first."""
    client = service.client("send", redeem="optional")
    while client.post("/v1/due/claim", {"limit": 1000}).ok()["permits"]:
        pass
    return client


@pytest.fixture
def stalled(shared_service: Service) -> Iterator[None]:
    """The read models stand still: somebody else holds their checkpoints."""
    with psycopg.connect(shared_service.database) as db:
        db.execute("SELECT 1 FROM projection_generations FOR UPDATE")
        yield
        db.rollback()
