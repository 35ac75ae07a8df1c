"""What commands will look at, so that a whole batch is loaded in a few round trips.

A walk goes as deep as what is loaded leads, and notes what is missing. It may guess too little: a
decision that misses something says so by NotLoaded.
"""

from collections.abc import Mapping
from uuid import UUID

from eventsourcing.domain import Aggregate

from ledger.application.commands import (
    ApplyFact,
    Command,
    Lapse,
    Redeem,
    ReportOutcome,
    RequestPermit,
)
from ledger.application.fact_data import (
    CustomerHeld,
    CustomerObserved,
    CustomersMerged,
    Delivery,
    Fact,
    InvoiceObserved,
    SendObserved,
    ThreadMessage,
)
from ledger.application.facts.fact_names import fact_name
from ledger.application.named_sends import key_for, names_of
from ledger.application.permit_subjects import (
    ApologyRequest,
    Digest,
    FollowUp,
    IntentMessage,
    Notification,
    PaymentFailedNotice,
    Reminder,
    Reply,
)
from ledger.application.ports import Need
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.identity import Address, aggregate_id, customer_known_by
from ledger.domain.invoice import Invoice
from ledger.domain.permit import Permit
from ledger.domain.thread import Thread


class Walk:
    """Follows commands through what is loaded; `need` is what was missing on the way.

    `looked_up` are fingerprints asked for by earlier walks: an erased address stays unknown.
    """

    def __init__(
        self, world: World, addresses: Mapping[str, str | None], looked_up: set[str]
    ) -> None:
        self.need = Need()
        self.seen: list[UUID] = []
        self._world = world
        self._aggregates = world.aggregates
        self._addresses = addresses
        self._looked_up = looked_up

    def follow(self, command: Command) -> None:
        """Note everything that this command leads to."""
        if isinstance(command, RequestPermit):
            self._request(command)
        elif isinstance(command, Redeem | ReportOutcome | Lapse):
            permit = self._permit(command.permit_id)
            if permit is not None:
                self._permit_parts(permit, isinstance(command, Redeem))
            if isinstance(command, ReportOutcome):
                for name in (command.provider_message_id, command.message_id):
                    if name is not None:
                        self._name("early_delivery", name)
        elif isinstance(command, ApplyFact):
            self._fact(command.fact)

    def _request(self, command: RequestPermit) -> None:
        if command.idempotency is not None:
            self.need.bindings.add(command.idempotency.scope)
        if command.job is not None:
            self._aggregate("job", command.job.name)
        if command.override is not None:
            self._name("override", command.override.action_id)
        for fact in command.facts:
            self._fact(fact)
        subject = command.subject
        if isinstance(subject, Reminder):
            for invoice_id in subject.invoices:
                self._invoice(invoice_id)
        elif isinstance(subject, PaymentFailedNotice):
            self._invoice(subject.invoice_id)
        elif isinstance(subject, ApologyRequest):
            self._aggregate("incident", subject.incident_id)
            self._customer(subject.customer_id)
        else:
            self._mail(subject)

    def _mail(self, subject: Reply | Notification | Digest | FollowUp | IntentMessage) -> None:
        if isinstance(subject, Reply):
            self._name("message", subject.in_reply_to)
            self._name("message_alias", subject.in_reply_to)
            self._name("sent_message", subject.in_reply_to)
        if isinstance(subject, Reply | FollowUp | IntentMessage):
            thread = self._aggregate("thread", subject.thread_id)
            if isinstance(thread, Thread):
                self._customer(thread.customer_id)
                return
        customer_id, owner_id = subject.customer_id, None
        if subject.to is not None and not self._has(customer_id, subject.to):
            owner_id = self._owner_of(subject.to)
            customer_id = customer_id or owner_id or customer_known_by(subject.to)
        if customer_id is None:
            return
        self._customer(customer_id)
        if isinstance(subject, Notification | Digest):
            self._sends(subject, customer_id)
            if owner_id is not None and owner_id != customer_id:
                self._sends(subject, owner_id)

    def _sends(self, subject: Notification | Digest, customer_id: str) -> None:
        found = self._aggregates.get(aggregate_id("customer", customer_id))
        customer = found if isinstance(found, Customer) else None
        for name in names_of(customer, customer_id, key_for(subject)):
            self._name("send", name)

    def _fact(self, fact: Fact) -> None:
        data = fact.data
        if fact.fact_id is not None:
            self._name("fact", fact_name(fact))
        if isinstance(data, CustomerObserved | CustomerHeld):
            self._customer(data.customer_id)
            if isinstance(data, CustomerObserved):
                self._claims(data.emails)
        elif isinstance(data, CustomersMerged):
            self._customer(data.from_id)
            self._customer(data.into_id)
        elif isinstance(data, ThreadMessage):
            self._aggregate("thread", data.thread_id)
            for name in (data.message_id, *data.aliases):
                self._name("message", name)
                self._name("message_alias", name)
                self._name("sent_message", name)
            correspondent = data.sender if data.direction == "inbound" else data.recipient
            self._owner(data.customer_id, correspondent)
            self._claims(tuple(a for a in (data.sender, data.recipient) if a))
        elif isinstance(data, SendObserved):
            self._customer(data.customer_id)
            if data.invoice_id is not None:
                self._invoice(data.invoice_id)
            if data.thread_id is not None:
                self._aggregate("thread", data.thread_id)
        elif isinstance(data, Delivery):
            self._delivery(data)
        else:
            self._invoice(data.invoice_id)
            if isinstance(data, InvoiceObserved):
                email = data.email if isinstance(data.email, Address) else None
                self._owner(data.customer_id, email)
                if email is not None:
                    self._claims((email,))

    def _delivery(self, data: Delivery) -> None:
        if data.permit_id is not None:
            permit = self._permit(data.permit_id)
            if permit is not None:
                self._permit_parts(permit, False)
        if data.message_id is not None:
            self._name("sent_message", data.message_id)
            self._name("early_delivery", data.message_id)
        if data.provider_message_id is not None:
            self._name("provider_message", data.provider_message_id)
            self._name("early_delivery", data.provider_message_id)

    def _invoice(self, invoice_id: str) -> None:
        invoice = self._aggregate("invoice", invoice_id)
        if isinstance(invoice, Invoice) and invoice.snapshot is not None:
            self._customer(invoice.customer_id)

    def _customer(self, customer_id: str) -> None:
        customer = self._aggregate("customer", customer_id)
        if not isinstance(customer, Customer):
            return
        if customer.addresses:
            self._address(customer.addresses[0])
        for permit in customer.lapsed(self._world.now):
            self._permit(permit.permit_id)
            self._permit_parts(permit, False)

    def _permit_parts(self, permit: Permit, with_address: bool) -> None:
        if permit.lapsed_state(self._world.now) is None:
            self._aggregate("customer", permit.customer_id)
        for item in permit.items:
            self._aggregate("invoice", item.invoice_id)
        if permit.thread_id is not None:
            self._aggregate("thread", permit.thread_id)
        if with_address and permit.address is not None:
            self._address(permit.address)

    def _address(self, fingerprint: str) -> None:
        if fingerprint not in self._addresses and fingerprint not in self._looked_up:
            self._looked_up.add(fingerprint)
            self.need.fingerprints.add(fingerprint)

    def _owner(self, customer_id: str | None, address: Address | None) -> None:
        """The customer who is named, else the one known by the address (design D9)."""
        if customer_id is not None:
            self._customer(customer_id)
        elif address is not None:
            self._customer(customer_known_by(address))

    def _claims(self, addresses: tuple[Address, ...]) -> None:
        for address in addresses:
            self._owner_of(address)

    def _owner_of(self, address: Address) -> str | None:
        """Whose address it is, once that is known."""
        self._name("address", address.fingerprint)
        owner_id = self._world.names.get(("address", address.fingerprint))
        if owner_id is not None:
            self._customer(owner_id)
        return owner_id

    def _has(self, customer_id: str | None, address: Address) -> bool:
        """Is the address one of the customer's, as far as is loaded? Then nobody else is asked."""
        if customer_id is None:
            return False
        found = self._aggregates.get(aggregate_id("customer", customer_id))
        return isinstance(found, Customer) and address.fingerprint in found.addresses

    def _aggregate(self, kind: str, external_id: str) -> Aggregate | None:
        id_ = aggregate_id(kind, external_id)
        self.seen.append(id_)
        try:
            return self._aggregates[id_]
        except KeyError:
            self.need.aggregates.add(id_)
            return None

    def _permit(self, permit_id: str) -> Permit | None:
        try:
            return self._world.permits[permit_id]
        except KeyError:
            self.need.permits.add(permit_id)
            return None

    def _name(self, kind: str, name: str) -> None:
        if (kind, name) not in self._world.names:
            self.need.names.add((kind, name))
