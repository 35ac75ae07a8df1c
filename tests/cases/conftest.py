"""Cases run in the order of their dates, on one service whose clock only moves forward."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import pytest

from tests.cases.timeline import Story, play
from tests.support.service import Service, fresh_service

_POLICY = """[policy]
smallest_amount_to_dun = { USD = 500, JPY = 100, KWD = 1500 }
own_lists = ["support.ours.example"]
"""
_WEBHOOKS = {"LEDGER_WEBHOOK_POSTMARK_SECRET": "u:p", "LEDGER_WEBHOOK_POSTMARK_MODE": "live"}
Play = Callable[..., Service]


def pytest_configure(config: pytest.Config) -> None:
    """Say what `starts` means."""
    config.addinivalue_line("markers", "starts(moment): when a case begins on the test clock")


def _start_of(item: pytest.Item) -> datetime:
    marker = item.get_closest_marker("starts")
    return datetime.fromisoformat(marker.args[0] if marker else "2000-01-01T00:00:00Z")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the cases by when they begin; every other test keeps its place."""
    here = Path(__file__).parent
    places = [n for n, item in enumerate(items) if here in item.path.parents]
    in_order = sorted((items[n] for n in places), key=_start_of)
    for place, item in zip(places, in_order, strict=True):
        items[place] = item


@pytest.fixture(scope="session")
def services(
    postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[datetime], Service]]:
    """Gives a service whose clock is not past a moment; the first has two workers."""
    config = tmp_path_factory.mktemp("policy") / "ledger.toml"
    config.write_text(_POLICY, encoding="utf-8")
    running: list[Service] = []
    with ExitStack() as opened:

        def at(moment: datetime) -> Service:
            for service in running:
                if service.clock <= moment:
                    return service
            started = fresh_service(
                postgres,
                moment,
                workers=1 if running else 2,
                connections=6,
                env={"LEDGER_CONFIG": str(config)} | _WEBHOOKS,
            )
            running.append(opened.enter_context(started))
            return running[-1]

        yield at


@pytest.fixture
def service(request: pytest.FixtureRequest, services: Callable[[datetime], Service]) -> Service:
    """The service of this case, its clock at the moment that `starts` names."""
    start = _start_of(request.node)
    found = services(start)
    found.move_clock(start)
    return found


@pytest.fixture
def tell(service: Service) -> Callable[..., None]:
    """Tells stories side by side on the service of this case."""

    def together(*stories: Story) -> None:
        play(service, *stories)

    return together


@pytest.fixture
def name() -> str:
    """A text that is in no other test's ids."""
    return uuid.uuid4().hex[:12]
