"""What a decision may see: aggregates and look-ups that were loaded, the time and the policy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

from eventsourcing.domain import Aggregate

from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.customer import Customer
from ledger.domain.identity import aggregate_id
from ledger.domain.incident import Incident
from ledger.domain.invoice import Invoice
from ledger.domain.job import Job
from ledger.domain.mailbox import Mailbox
from ledger.domain.permit import Permit
from ledger.domain.policy import Policy
from ledger.domain.send_imprint import (
    MailProof,
    imprinted_message_id,
    key_digest,
    proof_in_message_id,
    proof_in_token,
    send_token,
)
from ledger.domain.sendkey import SendKey
from ledger.domain.thread import Thread
from ledger.domain.value import value

Name: TypeAlias = tuple[str, str]
"""A look-up by an outside name: (kind, name), where kind is `fact`, `message`, `address` …"""


LONGEST_MERGE_CHAIN = 10_000
"""Customers that a look-up follows from one into the next; no true chain comes near it."""


class NotLoaded(LookupError):
    """A decision needs something that was not loaded; the engine loads it and decides again."""

    def __init__(
        self,
        aggregate: UUID | None = None,
        permit: str | None = None,
        name: Name | None = None,
        invoices_of: str | None = None,
        binding: bytes | None = None,
    ) -> None:
        super().__init__(aggregate, permit, name, invoices_of, binding)
        self.aggregate = aggregate
        self.permit = permit
        self.name = name
        self.invoices_of = invoices_of
        self.binding = binding


@value
class Identity:
    """Makes and recognises our own Message-IDs and tokens (design D18)."""

    secret: bytes
    domain: str

    def message_id(self, permit_id: str, imprint: str = "") -> str:
        """Our Message-ID for a permit with this imprint."""
        return imprinted_message_id(self.secret, permit_id, imprint, self.domain)

    def send_token(self, permit_id: str, imprint: str) -> str:
        """What a mail of the permit carries in the header `X-Ledger-Send`."""
        return send_token(self.secret, permit_id, imprint)

    def key_digest(self, key: SendKey) -> str:
        """The keyed digest by which an imprint names a send key."""
        return key_digest(self.secret, key)

    def permit_of(self, message_id: str) -> str | None:
        """The permit whose Message-ID this is, None if it is not ours."""
        proof = proof_in_message_id(self.secret, message_id)
        return proof.permit_id if proof is not None else None

    def proof_in(self, message_id: str | None, token: str | None = None) -> MailProof | None:
        """What a mail proves by its token, else by its Message-ID; None if neither is ours."""
        by_token = proof_in_token(self.secret, token) if token is not None else None
        if by_token is not None or message_id is None:
            return by_token
        return proof_in_message_id(self.secret, message_id)


@value
class Binding:
    """What an Idempotency-Key is bound to: the request, and the permit or the answer it led to."""

    fingerprint: bytes
    permit_id: str | None
    created_at: datetime
    status: int | None = None
    body: bytes | None = None


@dataclass(slots=True)
class World:
    """The loaded part of the ledger at one instant under the writer lock.

    A look-up of something that does not exist gives None; of something that was not loaded it
    raises NotLoaded. `before` has what the facts of a request on trial changed, as it was before.
    """

    now: datetime
    policy: Policy
    identity: Identity
    aggregates: dict[UUID, Aggregate | None]
    permits: dict[str, Permit | None] = field(default_factory=dict)
    names: dict[Name, str | None] = field(default_factory=dict)
    invoices_by_customer: dict[str, tuple[str, ...]] = field(default_factory=dict)
    bindings: dict[bytes, Binding | None] = field(default_factory=dict)
    before: Mapping[UUID, Aggregate | None] = field(default_factory=dict)

    @property
    def control(self) -> Control:
        """The ledger's switches."""
        found: Control | None = self._aggregate(CONTROL_ID)
        if found is None:
            raise RuntimeError("the ledger has not been set up: its control aggregate is missing")
        return found

    def invoice(self, invoice_id: str) -> Invoice | None:
        """The invoice of that id."""
        found: Invoice | None = self._aggregate(aggregate_id("invoice", invoice_id))
        return found

    def thread(self, thread_id: str) -> Thread | None:
        """The thread of that id."""
        found: Thread | None = self._aggregate(aggregate_id("thread", thread_id))
        return found

    def incident(self, incident_id: str) -> Incident | None:
        """The incident of that id."""
        found: Incident | None = self._aggregate(aggregate_id("incident", incident_id))
        return found

    def job(self, name: str) -> Job | None:
        """The job of that name."""
        found: Job | None = self._aggregate(aggregate_id("job", name))
        return found

    def customer(self, customer_id: str) -> Customer | None:
        """The customer of that id, or the one that it was merged into."""
        found: Customer | None = self._aggregate(aggregate_id("customer", customer_id))
        for _ in range(LONGEST_MERGE_CHAIN):
            if found is None or found.merged_into is None:
                return found
            found = self._aggregate(aggregate_id("customer", found.merged_into))
        raise RuntimeError(f"customer {customer_id} is merged in a circle")

    def customer_of_id(self, customer_id: str) -> Customer | None:
        """The customer of that very id, merged or not."""
        found: Customer | None = self._aggregate(aggregate_id("customer", customer_id))
        return found

    def customer_on_record(self, customer_id: str) -> Customer | None:
        """The customer as they were before the facts of a request on trial."""
        found = self.customer(customer_id)
        id_ = aggregate_id("customer", found.customer_id if found is not None else customer_id)
        before = self.before.get(id_, found)
        return before if isinstance(before, Customer) else None

    def thread_on_record(self, thread_id: str) -> Thread | None:
        """The thread as it was before the facts of a request on trial."""
        before = self.before.get(aggregate_id("thread", thread_id), self.thread(thread_id))
        return before if isinstance(before, Thread) else None

    def mailbox(self, fingerprint: str) -> Mailbox | None:
        """The address of that fingerprint, None if nothing was ever said of it."""
        found: Mailbox | None = self._aggregate(aggregate_id("address", fingerprint))
        return found

    def permit(self, permit_id: str) -> Permit | None:
        """The permit of that id."""
        try:
            return self.permits[permit_id]
        except KeyError:
            raise NotLoaded(permit=permit_id) from None

    def name(self, kind: str, name: str) -> str | None:
        """The target of an outside name, None if nobody claimed it."""
        try:
            return self.names[(kind, name)]
        except KeyError:
            raise NotLoaded(name=(kind, name)) from None

    def invoices_of(self, customer_id: str) -> tuple[str, ...]:
        """The ids of every invoice that the customer was ever named on."""
        try:
            return self.invoices_by_customer[customer_id]
        except KeyError:
            raise NotLoaded(invoices_of=customer_id) from None

    def binding(self, scope: bytes) -> Binding | None:
        """What the Idempotency-Key of that scope is bound to."""
        try:
            return self.bindings[scope]
        except KeyError:
            raise NotLoaded(binding=scope) from None

    def _aggregate(self, id_: UUID) -> Any:
        try:
            return self.aggregates[id_]
        except KeyError:
            raise NotLoaded(aggregate=id_) from None
