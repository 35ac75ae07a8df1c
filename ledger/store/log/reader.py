"""Reads aggregates and permits from the log without the writer lock, as of the last commit."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from ledger.application.ports import Loaded, Need
from ledger.application.world import LONGEST_MERGE_CHAIN
from ledger.domain.customer import Customer
from ledger.domain.identity import aggregate_id
from ledger.domain.invoice import Invoice
from ledger.domain.mailbox import Mailbox
from ledger.domain.permit import Permit
from ledger.store.connections import Connections
from ledger.store.log.loading import load_need
from ledger.store.log.transcoding import read_as
from ledger.store.statements import statement


@dataclass(frozen=True, slots=True)
class PermitRow:
    """A permit as a list shows it."""

    permit: Permit
    send_by: datetime


class LedgerReader:
    """Reads of single objects of the write side: consistent, and never older than the call."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def now(self) -> datetime:
        """The ledger's time (UTC): the database's clock or the test clock."""
        async with self._connections.use() as connection:
            row = await (await connection.execute(statement("ledger", "now"))).fetchone()
        assert row is not None
        now: datetime = row[0]
        return now

    async def load(self, need: Need) -> Loaded:
        """Load everything in `need` in one statement, and therefore from one snapshot."""
        async with self._connections.use() as connection:
            return await load_need(connection, need)

    async def aggregate(self, kind: str, external_id: str) -> tuple[Any, Loaded]:
        """One aggregate, or None, and everything that was loaded with it."""
        id_ = aggregate_id(kind, external_id)
        found = await self.load(Need(aggregates={id_}))
        return found.aggregates.get(id_), found

    async def customer(self, customer_id: str) -> tuple[Customer | None, Loaded]:
        """The customer, following merges."""
        for _ in range(LONGEST_MERGE_CHAIN):
            customer, found = await self.aggregate("customer", customer_id)
            if customer is None or customer.merged_into is None:
                return customer, found
            customer_id = customer.merged_into
        raise RuntimeError(f"customer {customer_id} is merged in a circle")

    async def ids_of(self, customer_id: str) -> tuple[str, ...] | None:
        """The customer's current id, then the ids merged into it; None if unknown."""
        customer, _ = await self.customer(customer_id)
        if customer is None:
            return None
        return (customer.customer_id, *sorted(customer.absorbed))

    async def every_id_of(self, customer_ids: Iterable[str]) -> tuple[str, ...]:
        """All ids of these customers, merged ones included, each once."""
        ids: dict[str, None] = {}
        for customer_id in customer_ids:
            ids |= dict.fromkeys((customer_id, *(await self.ids_of(customer_id) or ())))
        return tuple(ids)

    async def invoices_of(self, customer: Customer) -> list[Invoice]:
        """The invoices that belong to the customer now, those of merged ids included."""
        ids = {customer.customer_id, *customer.absorbed}
        owned = await self.load(Need(owners=set(ids)))
        names = {name for names in owned.owned.values() for name in names}
        found = await self.load(Need(aggregates={aggregate_id("invoice", n) for n in names}))
        invoices = [i for i in found.aggregates.values() if isinstance(i, Invoice)]
        return sorted((i for i in invoices if i.customer_id in ids), key=lambda i: i.invoice_id)

    async def mailboxes(self, fingerprints: Iterable[str]) -> list[Mailbox]:
        """What was said of these addresses, in their order; nothing of those never spoken of."""
        wanted = [aggregate_id("address", fingerprint) for fingerprint in fingerprints]
        if not wanted:
            return []
        found = (await self.load(Need(aggregates=set(wanted)))).aggregates
        return [mailbox for id_ in wanted if isinstance(mailbox := found.get(id_), Mailbox)]

    async def texts(self, fingerprints: set[str]) -> dict[str, str]:
        """The addresses by their fingerprints, as they were given; erased ones are left out."""
        if not fingerprints:
            return {}
        return (await self.load(Need(fingerprints=fingerprints))).contacts

    async def addresses(self, fingerprints: Iterable[str]) -> list[str]:
        """The addresses with these fingerprints, as senders wrote them, in the same order."""
        wanted = list(fingerprints)
        if not wanted:
            return []
        found = await self.load(Need(fingerprints=set(wanted)))
        return [found.contacts[f] for f in wanted if f in found.contacts]

    async def permit(self, permit_id: str) -> tuple[Permit, dict[str, Any], str | None] | None:
        """A permit, the body of the response that granted it, and its address."""
        found = await self.load(Need(permits={permit_id}, answers={permit_id}))
        permit = found.permits.get(permit_id)
        if permit is None:
            return None
        answer = found.answers.get(permit_id)
        addresses = await self.addresses([permit.address] if permit.address else [])
        body: dict[str, Any] = orjson.loads(answer) if answer else {}
        return permit, body, addresses[0] if addresses else None

    async def permits(
        self,
        state: str | None,
        limit: int,
        after: tuple[str, datetime | None],
        key_id: str | None = None,
    ) -> list[PermitRow]:
        """Permits ordered by id; those in an unsettled state ordered by expiry, oldest first.

        `key_id` lists the unsettled ones of that key alone.
        """
        unsettled = state in ("granted", "redeemed", "unknown")
        name = "unsettled" if unsettled else "list"
        if key_id is not None:
            name = "unsettled_of_key"
        values: dict[str, Any] = {
            "state": state,
            "limit": limit,
            "after": UUID(after[0]),
            "key_id": key_id,
        }
        if unsettled:
            values["send_by"] = after[1] or datetime.fromisoformat("1970-01-01T00:00:00+00:00")
        async with self._connections.use() as connection:
            rows = await (await connection.execute(statement("permits", name), values)).fetchall()
        permits = [read_as(Permit, row[1]) for row in rows]
        return [PermitRow(permit, permit.send_by) for permit in permits]
