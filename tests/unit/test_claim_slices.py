"""The slices of a claim: each ready customer once, and no more of them than were asked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from api import ready_slices as module
from api.claimed_customers import Claim, ClaimedCustomers
from projections.due import READ_MODELS, ReadyCustomer, ReadyPage


def _customer(customer_id: str, *invoices: str) -> ReadyCustomer:
    return ReadyCustomer(customer_id, invoices)


PAGES = {
    None: ReadyPage([_customer("a", "a-1", "a-2"), _customer("b", "b-1")], "1"),
    "1": ReadyPage([_customer("a", "a-3"), _customer("c", "c-1")], "2"),
    "2": ReadyPage([_customer("d", "d-1")], None),
}
"""Once a mail for `a` was granted, the invoice that was left over stands at a later date."""
HEAD = 20


@dataclass
class Service:
    """The parts of a service that a claim reads by; `projector` knows the log up to `known`."""

    pages: dict[str | None, ReadyPage] = field(default_factory=lambda: dict(PAGES))
    limits: list[int] = field(default_factory=list)
    waited_for: list[int] = field(default_factory=list)
    claimed: ClaimedCustomers = field(default_factory=ClaimedCustomers)
    known: int = 0
    waiting: int = 0
    position: int = HEAD
    only_claims_since: int = HEAD
    head: int = HEAD

    @property
    def context(self) -> Any:
        """As the claim sees it."""
        settings = SimpleNamespace(read_wait=2.0)
        reader = SimpleNamespace(load=self._load)
        connections = SimpleNamespace(use=self._use)
        return SimpleNamespace(
            engine=self,
            projector=self,
            reader=reader,
            connections=connections,
            claimed=self.claimed,
            settings=settings,
            policy=None,
        )

    async def _load(self, _: Any) -> Any:
        return SimpleNamespace(position=self.head, now=None)

    @asynccontextmanager
    async def _use(self) -> AsyncIterator[None]:
        yield None

    async def wait_for(self, position: int, timeout: float, names: Any) -> float:
        """The read models arrive at once."""
        assert (timeout, names) == (2.0, READ_MODELS)
        self.waited_for.append(position)
        self.known = max(self.known, position)
        return 0.0

    def passed(self, names: Any) -> int:
        """How far they are."""
        assert names == READ_MODELS
        return self.known

    async def read(self, _: None, **asked: Any) -> ReadyPage:
        """A page, as the database would answer."""
        self.limits.append(asked["limit"])
        found = self.pages[asked["cursor"]]
        left = [c for c in found.items if c.customer_id not in asked["passing_over"]]
        return ReadyPage(left[: asked["limit"]], found.next)

    def slices(self, limit: int, *, denied: bool = False) -> list[list[tuple[str, ...]]]:
        """The invoices that a claim of so many asks for, by slice; all of them `denied` at once?"""
        claim = Claim(self.claimed)

        async def read() -> list[Any]:
            read = []
            async with aclosing(module.ready_slices(self.context, claim, None, limit)) as slices:
                async for customers in slices:
                    read.append([customer.invoices for customer in customers])
                    for customer in customers if denied else ():
                        claim.denied(customer.customer_id)
            return read

        return asyncio.run(read())


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    made = Service()
    monkeypatch.setattr(module, "ready", made.read)
    monkeypatch.setattr(module, "_FIRST", 2)
    monkeypatch.setattr(module, "_SLICE", 3)
    return made


def test_a_customer_who_comes_again_is_not_asked_for_twice_by_one_claim(service: Service) -> None:
    found = service.slices(10, denied=True)
    assert found == [[("a-1", "a-2"), ("b-1",)], [("c-1",)], [("d-1",)]]
    assert service.limits == [2, 2, 2]


def test_whoever_comes_again_takes_nobody_elses_place(service: Service) -> None:
    found = service.slices(4, denied=True)
    assert found == [[("a-1", "a-2"), ("b-1",)], [("c-1",)], [("d-1",)]]
    assert service.limits == [2, 2, 1]


def test_no_more_is_read_than_was_asked_for(service: Service) -> None:
    assert service.slices(2) == [[("a-1", "a-2"), ("b-1",)]]
    assert service.limits == [2]


def test_the_rest_is_read_only_as_far_as_it_is_wanted(service: Service) -> None:
    assert service.slices(3) == [[("a-1", "a-2"), ("b-1",)], [("c-1",)]]
    assert service.limits == [2, 1]


def test_more_is_read_at_once_while_others_are_decided(service: Service) -> None:
    service.waiting = 1
    service.slices(10)
    assert service.limits == [3, 3, 3]


def test_whom_another_claim_asks_for_is_left_to_it(service: Service) -> None:
    Claim(service.claimed).asks(["a", "c"])
    assert service.slices(10) == [[("b-1",)], [], [("d-1",)]]
    assert service.waited_for == [HEAD]


def test_all_that_is_found_is_asked_for_at_once(service: Service) -> None:
    service.slices(2)
    assert service.claimed.asked == {"a", "b"}


def test_what_claims_were_granted_is_not_waited_for(service: Service) -> None:
    service.only_claims_since, service.known = 12, 12
    Claim(service.claimed).granted("a", 15)
    assert service.slices(1) == [[("b-1",)]]
    assert service.waited_for == [12]


def test_where_too_few_are_left_those_with_a_permit_are_looked_at_again(service: Service) -> None:
    """More may be due of theirs; the read models must tell of their permits before."""
    service.only_claims_since, service.known = 12, 12
    service.pages = {None: PAGES["2"]}
    Claim(service.claimed).granted("d", 15)
    assert service.slices(10) == [[], [("d-1",)]]
    assert service.waited_for == [12, 15]


def test_a_permit_that_may_never_come_is_not_waited_for(service: Service) -> None:
    """The next position after the log's end: of a claim whose caller went away."""
    claim = Claim(service.claimed)
    claim.asks(["d"])
    claim.close(HEAD)
    service.pages = {None: PAGES["2"]}
    assert service.slices(10) == [[], [("d-1",)]]
    assert service.waited_for == [HEAD, HEAD]


def test_what_another_process_wrote_is_waited_for(service: Service) -> None:
    service.only_claims_since, service.head = 12, HEAD + 1
    service.slices(1)
    assert service.waited_for == [HEAD + 1]


def test_with_many_to_pass_over_the_read_models_are_waited_for(service: Service) -> None:
    service.only_claims_since = 12
    service.claimed = ClaimedCustomers(most=1)
    Claim(service.claimed).granted("a", 15)
    assert service.slices(1) == [[("a-1", "a-2")]]
    assert (service.waited_for, service.claimed.granted) == ([HEAD], {})
