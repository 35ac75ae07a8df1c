"""Services with all webhook providers configured; one, in test mode, is shared."""

import uuid
from collections.abc import Iterator

import pytest

from tests.api.webhooks.posting import environment
from tests.support.service import Service, fresh_service

CLOCK = "2027-01-15T12:00:00+00:00"
"""After everything that the sample bodies tell of."""


@pytest.fixture(scope="session")
def shared_hooks(postgres: str) -> Iterator[Service]:
    """A service in test mode, so that it takes the samples as they are."""
    with fresh_service(postgres, CLOCK, env=environment()) as service:
        yield service


@pytest.fixture
def hooks(shared_hooks: Service) -> Service:
    """The shared service, its clock a second on."""
    shared_hooks.advance(seconds=1)
    return shared_hooks


@pytest.fixture
def mark() -> str:
    """Hex digits that are in no other test's ids."""
    return uuid.uuid4().hex[:8]
