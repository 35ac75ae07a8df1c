"""Rebuilds the ledger's state at a past position of the log, on demand, for explanations (D11).

Aggregates and permits are replayed from the events up to the position. Look-ups by outside names
have no history: their current result is used if the object that it names existed at the position.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import orjson
from psycopg import AsyncConnection

from ledger.application.lost_sends import LOST_SEND, was_noted
from ledger.application.ports import Need
from ledger.application.world import Identity, Name, NotLoaded, World
from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.customer import Customer
from ledger.domain.identity import ADDRESS_CUSTOMER_PREFIX, aggregate_id
from ledger.domain.permit import Permit, State
from ledger.domain.policy import Policy
from ledger.domain.thread import Thread
from ledger.store.log.loading import load_need
from ledger.store.log.transcoding import read_event
from ledger.store.statements import statement

T = TypeVar("T")
_MOST_LOADS = 500
_MOST_MERGES = 100
LOOK_BACK = 500
"""How many events up to a position are searched for its decision's: one can be of 100 invoices."""


@dataclass(frozen=True, slots=True)
class PastEvent:
    """An event and its position in the log."""

    position: int
    event: Any


class Past:
    """The log up to a position; loads from it what a pure function of a World needs."""

    def __init__(self, connection: AsyncConnection[Any], position: int, customer_id: str | None):
        self.position = position
        self._connection = connection
        self._customer_id = customer_id

    async def ask(self, world: World, question: Callable[[], T]) -> T:
        """Call a pure function again and again, loading what it misses, until it returns."""
        for _ in range(_MOST_LOADS):
            try:
                return question()
            except NotLoaded as missing:
                await self._load(world, missing)
        raise RuntimeError("an explanation kept asking for more than may be loaded")

    async def world(self, now: datetime, policy: Policy, identity: Identity) -> World:
        """A World at this position with the Control aggregate; `ask` loads the rest on demand."""
        world = World(now, policy, identity, {})
        await self._load(world, NotLoaded(aggregate=CONTROL_ID))
        if world.aggregates[CONTROL_ID] is None:
            started = Control.Created(
                originator_topic=Control.TOPIC,
                originator_id=CONTROL_ID,
                originator_version=1,
                timestamp=now,
            )
            world.aggregates[CONTROL_ID] = started.mutate(None)
        return world

    async def replay(self, ids: Iterable[UUID]) -> dict[UUID, Any]:
        """Rebuild aggregates from their events up to the position; leaves out those without any."""
        found: dict[UUID, Any] = {}
        rows = await self._rows("aggregates", ids=list(ids))
        for id_, version, topic, state in rows:
            event = read_event(id_, version, topic, orjson.loads(state))
            found[id_] = event.mutate(found.get(id_))
        return found

    async def last_events(self, limit: int = LOOK_BACK) -> list[PastEvent]:
        """The events up to the position, newest first."""
        rows = await self._rows("before", limit=limit)
        return [
            PastEvent(position, read_event(id_, version, topic, orjson.loads(state)))
            for position, id_, version, topic, state in rows
        ]

    async def permit(self, permit_id: str) -> Permit | None:
        """The permit's state at the position, None where it was not granted yet."""
        present = await load_need(self._connection, Need(permits={permit_id}))
        known = present.permits.get(permit_id)
        if known is None:
            return None
        customers = await self._with_heirs([known.customer_id])
        rows = await self._rows("permit", customers=customers, permit_id=permit_id)
        permit: Permit | None = None
        for id_, version, topic, state in rows:
            permit = _after(permit, read_event(id_, version, topic, orjson.loads(state)))
        return permit

    async def _load(self, world: World, missing: NotLoaded) -> None:
        if missing.aggregate is not None:
            found = await self.replay([missing.aggregate])
            world.aggregates[missing.aggregate] = found.get(missing.aggregate)
        if missing.permit is not None:
            world.permits[missing.permit] = await self.permit(missing.permit)
        if missing.name is not None:
            world.names[missing.name] = await self._name(missing.name, world.now)
        if missing.invoices_of is not None:
            owned = await load_need(self._connection, Need(owners={missing.invoices_of}))
            names = tuple(owned.owned.get(missing.invoices_of, ()))
            world.invoices_by_customer[missing.invoices_of] = names
        if missing.binding is not None:
            world.bindings[missing.binding] = None

    async def _name(self, name: Name, now: datetime) -> str | None:
        if name[0] == "send":
            return await self._holder_of_send(name[1])
        if name[0] == "address":
            return await self._owner_of_address(name[1])
        target = await self._present(name)
        if target is None:
            return None
        if name[0] == LOST_SEND:
            return target if was_noted(target, now) else None
        if name[0] in ("sent_message", "provider_message", "override"):
            return target if await self.permit(target) is not None else None
        if name[0] == "message":
            known_as = await self._present(("message_alias", name[1])) or name[1]
            found = await self.replay([aggregate_id("thread", target)])
            thread = found.get(aggregate_id("thread", target))
            return target if isinstance(thread, Thread) and known_as in thread.messages else None
        return target

    async def _holder_of_send(self, named: str) -> str | None:
        """The permit of a named send: the one in state `sent`, else the latest one (design D6)."""
        customers = await self._with_absorbed(self._customer_id or "")
        rows = await self._rows("named", customers=customers, named=named)
        ids = [row[0] for row in rows]
        for permit_id in ids:
            permit = await self.permit(permit_id)
            if permit is not None and permit.state is State.SENT:
                return str(permit_id)
        return ids[0] if ids else None

    async def _owner_of_address(self, fingerprint: str) -> str | None:
        """The current owner, if they had the address then; else the address-only customer (D9)."""
        alone = f"{ADDRESS_CUSTOMER_PREFIX}{fingerprint}"
        for customer_id in (await self._present(("address", fingerprint)), alone):
            if customer_id is None:
                continue
            own = aggregate_id("customer", customer_id)
            customer = (await self.replay([own])).get(own)
            if customer is not None and (customer_id == alone or fingerprint in customer.addresses):
                return customer_id
        return None

    async def _present(self, name: Name) -> str | None:
        found = await load_need(self._connection, Need(names={name}))
        return found.names.get(name)

    async def _with_absorbed(self, customer_id: str) -> list[UUID]:
        """The streams of a customer, of all merged into it by this position, and of former ones."""
        own = aggregate_id("customer", customer_id)
        customer = (await self.replay([own])).get(own)
        if not isinstance(customer, Customer):
            return [own]
        others = (*sorted(customer.absorbed), *customer.formerly)
        return [own, *(aggregate_id("customer", name) for name in others)]

    async def _with_heirs(self, customer_ids: list[str]) -> list[UUID]:
        """The streams of customers and of all that they were merged into, if for a while only."""
        streams = [aggregate_id("customer", name) for name in customer_ids]
        former: dict[UUID, None] = {}
        for _ in range(_MOST_MERGES):
            last = (await self.replay(streams[-1:])).get(streams[-1])
            if not isinstance(last, Customer):
                break
            former |= {aggregate_id("customer", name): None for name in last.formerly}
            if last.merged_into is None:
                break
            streams.append(aggregate_id("customer", last.merged_into))
        return [*streams, *(stream for stream in former if stream not in streams)]

    async def _rows(self, name: str, **values: Any) -> list[tuple[Any, ...]]:
        wanted = values | {"position": self.position}
        cursor = await self._connection.execute(statement("explain", name), wanted)
        return await cursor.fetchall()


def _after(permit: Permit | None, event: Any) -> Permit | None:
    """Apply the next event of a permit to it."""
    if isinstance(event, Customer.MailPermitted | Customer.MailObserved):
        return event.permit
    if permit is None:
        return None
    if isinstance(event, Customer.MailRedeemed):
        return permit.redeemed(event.timestamp, event.attempt)
    assert isinstance(event, Customer.MailSettled)
    ids = (event.provider_message_id, event.message_id)
    settled = permit.settled(event.state, event.timestamp, *ids)
    if event.state is State.REJECTED:
        return replace(settled, rejections=permit.rejections + 1)
    return settled
