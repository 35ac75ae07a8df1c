"""A walk through what is loaded: each step follows what it finds, and notes what is missing."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from uuid import UUID

from eventsourcing.domain import Aggregate

from ledger.application.ports import Need
from ledger.application.world import LONGEST_MERGE_CHAIN, NotLoaded, World
from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.customer import Customer
from ledger.domain.identity import Address, aggregate_id, customer_known_by
from ledger.domain.invoice import Invoice
from ledger.domain.permit import Permit
from ledger.domain.send_imprint import MailProof


class Walk:
    """Looks at what is loaded and notes in `need` what was missing on the way.

    `looked_up` are fingerprints asked for by earlier walks: an erased address stays unknown.
    """

    def __init__(
        self, world: World, addresses: Mapping[str, str | None], looked_up: set[str]
    ) -> None:
        self.need = Need()
        self.seen: list[UUID] = []
        self._world = world
        self.aggregates = world.aggregates
        self._addresses = addresses
        self._looked_up = looked_up
        control = world.aggregates.get(CONTROL_ID)
        self.any_lost = isinstance(control, Control) and control.lost_sends

    def invoice(self, invoice_id: str) -> None:
        """The invoice, and the customer whom its snapshot names."""
        invoice = self.aggregate("invoice", invoice_id)
        if isinstance(invoice, Invoice) and invoice.snapshot is not None:
            self.customer(invoice.customer_id)

    def customer(self, customer_id: str) -> None:
        """The customer after merges, their preferred address, their permits whose time is up."""
        customer = self.aggregate("customer", customer_id)
        for _ in range(LONGEST_MERGE_CHAIN):
            if not isinstance(customer, Customer) or customer.merged_into is None:
                break
            customer = self.aggregate("customer", customer.merged_into)
        if not isinstance(customer, Customer):
            return
        if customer.addresses:
            self.address(customer.addresses[0])
            self.mailbox(customer.addresses[0])
        for permit in customer.lapsed(self._world.now):
            self.permit(permit.permit_id)
            self.permit_parts(permit, False)

    def permit_parts(self, permit: Permit, with_address: bool) -> None:
        """The customer, invoices and thread that a change of the permit touches."""
        if permit.lapsed_state(self._world.now) is None:
            self.aggregate("customer", permit.customer_id)
        for item in permit.items:
            self.aggregate("invoice", item.invoice_id)
        for copy in permit.copies:
            self.aggregate("customer", copy.customer_id)
            if with_address:
                self.mailbox(copy.address)
                self.name("address", copy.address)
        if permit.thread_id is not None:
            self.aggregate("thread", permit.thread_id)
        if with_address and permit.address is not None:
            self.address(permit.address)
            self.mailbox(permit.address)

    def address(self, fingerprint: str) -> None:
        """The text of an address."""
        if fingerprint not in self._addresses and fingerprint not in self._looked_up:
            self._looked_up.add(fingerprint)
            self.need.fingerprints.add(fingerprint)

    def mailbox(self, fingerprint: str) -> None:
        """What holds mail to an address back."""
        self.aggregate("address", fingerprint)

    def owner(self, customer_id: str | None, address: Address | None) -> None:
        """The customer who is named, else the one known by the address (design D9)."""
        if customer_id is not None:
            self.customer(customer_id)
        elif address is not None:
            self.customer(customer_known_by(address))

    def claims(self, addresses: tuple[Address, ...]) -> None:
        """Whose these addresses are."""
        for address in addresses:
            self.owner_of(address)

    def owner_of(self, address: Address) -> str | None:
        """Whose address it is, once that is known, and what holds mail to it back.

        Facts load the holds too, which they do not look at: the next permit has them in memory.
        """
        self.mailbox(address.fingerprint)
        self.name("address", address.fingerprint)
        owner_id = self._world.names.get(("address", address.fingerprint))
        if owner_id is not None:
            self.customer(owner_id)
        return owner_id

    def loaded_customer(self, customer_id: str) -> Customer | None:
        """The customer of that id, or the one that it was merged into, as far as is loaded."""
        for _ in range(LONGEST_MERGE_CHAIN):
            found = self.aggregates.get(aggregate_id("customer", customer_id))
            if not isinstance(found, Customer):
                return None
            if found.merged_into is None:
                return found
            customer_id = found.merged_into
        return None

    def has(self, customer_id: str | None, address: Address) -> bool:
        """Is the address one of the customer's, as far as is loaded? Then nobody else is asked."""
        if customer_id is None:
            return False
        found = self.aggregates.get(aggregate_id("customer", customer_id))
        return isinstance(found, Customer) and address.fingerprint in found.addresses

    def aggregate(self, kind: str, external_id: str) -> Aggregate | None:
        """The aggregate of that kind and outside id, if it is loaded and exists."""
        id_ = aggregate_id(kind, external_id)
        self.seen.append(id_)
        try:
            return self.aggregates[id_]
        except KeyError:
            self.need.aggregates.add(id_)
            return None

    def permit(self, permit_id: str) -> Permit | None:
        """The permit of that id, if it is loaded and exists."""
        try:
            return self._world.permits[permit_id]
        except KeyError:
            self.need.permits.add(permit_id)
            return None

    def name(self, kind: str, name: str) -> None:
        """What an outside name is bound to."""
        if (kind, name) not in self._world.names:
            self.need.names.add((kind, name))

    def proof_in(self, message_id: str | None, token: str | None) -> MailProof | None:
        """What a mail proves by its token, else by its Message-ID."""
        return self._world.identity.proof_in(message_id, token)

    def names_found(self, kind: str, names: Callable[[World], Iterable[str]]) -> None:
        """What lost sends are bound to, while any are on record; `names` may miss what it needs."""
        if not self.any_lost:
            return
        with suppress(NotLoaded):
            for name in names(self._world):
                self.name(kind, name)

    def named(self, kind: str, name: str) -> str | None:
        """The target of an outside name, once that is loaded."""
        return self._world.names.get((kind, name))
