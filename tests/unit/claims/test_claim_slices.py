"""The slices of a claim: each ready customer once, and no more of them than were asked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from api.claims import ready_slices as module
from api.claims.claimed_customers import Claim, ClaimedCustomers
from ledger.application.caller import SYSTEM
from ledger.domain.control import CONTROL_ID, Control, Pause
from projections.due import READ_MODELS, ReadyCustomer, ReadyPage


def _customer(customer_id: str, *invoices: str) -> ReadyCustomer:
    return ReadyCustomer(customer_id, invoices)


PAGES = {
    None: ReadyPage([_customer("a", "a-1", "a-2"), _customer("b", "b-1")], "1"),
    "1": ReadyPage([_customer("a", "a-3"), _customer("c", "c-1"), _customer("e", "e-1")], "2"),
    "2": ReadyPage([_customer("d", "d-1")], None),
}
"""Once a mail for `a` was granted, the invoice that was left over stands at a later date."""
HEAD = 20
NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


@dataclass
class Service:
    """The parts of a service that a claim reads by; the read models know the log up to `known`.

    After so many reads another claim's wait for them has had all permits forgotten.
    """

    pages: dict[str | None, ReadyPage] = field(default_factory=lambda: dict(PAGES))
    limits: list[int] = field(default_factory=list)
    waited_for: list[int] = field(default_factory=list)
    claimed: ClaimedCustomers = field(default_factory=ClaimedCustomers)
    known: int = 0
    stands_still: bool = False
    forgets_after: int = 0
    position: int = HEAD
    only_claims_since: int = HEAD
    head: int = HEAD
    control: Control | None = None

    @property
    def context(self) -> Any:
        """As the claim sees it."""
        reader = SimpleNamespace(load=self._load)
        connections = SimpleNamespace(use=self._use)
        return SimpleNamespace(
            engine=self,
            projector=self,
            reader=reader,
            connections=connections,
            claimed=self.claimed,
            read_wait=2.0,
            policy=None,
        )

    async def _load(self, _: Any) -> Any:
        aggregates = {CONTROL_ID: self.control}
        return SimpleNamespace(position=self.head, now=None, aggregates=aggregates)

    @asynccontextmanager
    async def _use(self) -> AsyncIterator[None]:
        yield None

    async def wait_for(self, position: int, timeout: float, names: Any) -> float:
        """The read models arrive at once, or not at all."""
        assert (timeout, names) == (2.0, READ_MODELS)
        self.waited_for.append(position)
        if not self.stands_still:
            self.known = max(self.known, position)
        return 2.0 if self.stands_still else 0.0

    def passed(self, names: Any) -> int:
        """How far they are."""
        assert names == READ_MODELS
        return self.known

    async def read(self, _: None, **asked: Any) -> ReadyPage:
        """A page, as the database would answer."""
        self.limits.append(asked["limit"])
        if len(self.limits) == self.forgets_after:
            self.claimed.forget(HEAD)
        found = self.pages[asked["cursor"]]
        left = [c for c in found.items if c.customer_id not in asked["passing_over"]]
        return ReadyPage(left[: asked["limit"]], found.next)

    def slices(self, limit: int, *, denied: bool = False) -> list[list[tuple[str, ...]]]:
        """The invoices that a claim of so many asks for, by slice; all of them `denied` at once?"""
        claim = Claim(self.claimed)

        async def read() -> list[Any]:
            read = []
            found = module.ready_slices(self.context, SYSTEM, claim, None, limit)
            async with aclosing(found) as slices:
                async for customers in slices:
                    read.append([customer.invoices for customer in customers])
                    for customer in customers if denied else ():
                        claim.answered(customer.customer_id, None)
            return read

        return asyncio.run(read())


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    made = Service()
    monkeypatch.setattr(module, "ready", made.read)
    monkeypatch.setattr(module, "_SLICE", 2)
    return made


def test_a_customer_who_comes_again_is_not_asked_for_twice_by_one_claim(service: Service) -> None:
    found = service.slices(10, denied=True)
    assert found == [[("a-1", "a-2"), ("b-1",)], [("c-1",), ("e-1",)], [("d-1",)]]
    assert service.limits == [2, 2, 2]


def test_no_more_is_read_than_was_asked_for(service: Service) -> None:
    assert service.slices(2) == [[("a-1", "a-2"), ("b-1",)]]
    assert service.limits == [2]


def test_the_rest_is_read_only_as_far_as_it_is_wanted(service: Service) -> None:
    assert service.slices(3) == [[("a-1", "a-2"), ("b-1",)], [("c-1",)]]
    assert service.limits == [2, 1]


@pytest.mark.parametrize("stopped", ["recovery", "pause"])
def test_one_customer_is_asked_for_while_all_would_be_denied_alike(
    service: Service, stopped: str
) -> None:
    service.control = control = Control.Created(
        originator_id=CONTROL_ID,
        originator_version=1,
        timestamp=NOON,
        originator_topic=Control.TOPIC,
    ).mutate(None)
    assert control is not None
    assert service.slices(2) == [[("a-1", "a-2"), ("b-1",)]]
    if stopped == "recovery":
        control.recovery_since = NOON
    else:
        control.pauses["outreach"] = Pause(NOON, "a flood", "ann")
    service.claimed.asked.clear()
    assert service.slices(2) == [[("a-1", "a-2")]]


def test_whom_another_claim_asks_for_is_left_to_it(service: Service) -> None:
    Claim(service.claimed).asks(["a", "c"])
    assert service.slices(10) == [[("b-1",)], [("e-1",)], [("d-1",)]]
    assert service.waited_for == [HEAD]


def test_all_that_is_found_is_asked_for_at_once(service: Service) -> None:
    service.slices(2)
    assert service.claimed.asked == {"a", "b"}


def test_two_claims_never_look_at_the_same_time(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second is let in when the customers of the first are known to be asked for."""
    looking: list[list[str]] = []

    async def scenario() -> list[list[tuple[str, ...]]]:
        go_on = asyncio.Event()

        async def read(connection: None, **asked: Any) -> ReadyPage:
            looking.append(asked["passing_over"])
            await go_on.wait()
            return await service.read(connection, **asked)

        async def claim() -> list[tuple[str, ...]]:
            slices = module.ready_slices(service.context, SYSTEM, Claim(service.claimed), None, 1)
            async with aclosing(slices):
                return [c.invoices for c in await anext(slices)]

        monkeypatch.setattr(module, "ready", read)
        claims = [asyncio.create_task(claim()) for _ in range(2)]
        for _ in range(20):
            await asyncio.sleep(0)
        assert looking == [[]]
        go_on.set()
        return await asyncio.gather(*claims)

    assert asyncio.run(scenario()) == [[("a-1", "a-2")], [("b-1",)]]
    assert looking == [[], ["a"]]


def test_what_claims_were_granted_is_not_waited_for(service: Service) -> None:
    service.only_claims_since, service.known = 12, 12
    Claim(service.claimed).answered("a", 15)
    assert service.slices(1) == [[("b-1",)]]
    assert service.waited_for == [12]


def test_what_the_read_models_know_is_passed_over_no_more(service: Service) -> None:
    """They may know more than was waited for."""
    service.only_claims_since, service.known = 12, 16
    Claim(service.claimed).answered("a", 15)
    assert service.slices(1) == [[("a-1", "a-2")]]


def test_where_too_few_are_left_those_with_a_permit_are_looked_at_again(service: Service) -> None:
    """More may be due of theirs; the read models must tell of their permits before."""
    service.only_claims_since, service.known = 12, 12
    service.pages = {None: PAGES["2"]}
    Claim(service.claimed).answered("d", 15)
    assert service.slices(10) == [[], [("d-1",)]]
    assert service.waited_for == [12, 15]


def test_who_was_passed_over_at_first_is_looked_at_again_though_nobody_was_at_last(
    service: Service,
) -> None:
    service.only_claims_since, service.known = 12, 12
    Claim(service.claimed).answered("a", 15)
    service.forgets_after = 2
    found = service.slices(10)
    assert found[:3] == [[("b-1",)], [("c-1",), ("e-1",)], [("d-1",)]]
    assert [invoices for customers in found[3:] for invoices in customers] == [("a-1", "a-2")]
    assert service.waited_for == [12, 15]


def test_read_models_that_do_not_come_leave_out_who_got_a_permit(service: Service) -> None:
    """Else the same ones were asked for again and again, and denied."""
    service.only_claims_since, service.known, service.stands_still = 12, 12, True
    service.pages = {None: PAGES["2"]}
    Claim(service.claimed).answered("d", 15)
    assert service.slices(10) == [[], []]
    assert service.waited_for == [12, 15]


def test_what_another_process_wrote_is_waited_for(service: Service) -> None:
    service.only_claims_since, service.head = 12, HEAD + 1
    service.slices(1)
    assert service.waited_for == [HEAD + 1]


def test_where_no_more_permits_can_be_remembered_the_read_models_are_waited_for(
    service: Service,
) -> None:
    service.only_claims_since = 12
    service.claimed = ClaimedCustomers(most=1)
    Claim(service.claimed).answered("a", 15)
    assert service.slices(1) == [[("a-1", "a-2")]]
    assert (service.waited_for, service.claimed.unseen) == ([HEAD], {})
