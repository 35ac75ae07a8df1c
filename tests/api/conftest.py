"""One service for the tests of the HTTP interface that can share a clock; names of their own."""

import uuid
from collections.abc import Iterator

import pytest

from tests.support.service import Service, fresh_service


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
