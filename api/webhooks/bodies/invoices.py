"""Builds facts about invoices and customers, the same for every billing provider."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from api.webhooks.bodies.moments import day_in, rfc3339
from api.webhooks.bodies.record import checked_id, checked_text, usable_address
from api.webhooks.provider import Fact, Rejected, Settings, Translation


@dataclass(frozen=True)
class Snapshot:
    """The state of one invoice in a billing system at one moment; amounts in minor units.

    `due` None clears the due date; `issued` None leaves the issue date as it was. Both are instants
    and become days in the billing zone (`Settings.time_zone`), where the customer reads them.
    `version` is the provider's own, where it has one. All billing providers count whole seconds in
    what moves money, so a snapshot holds all of its second (ADR 0005). `nothing_in_flight`: the
    provider shows every payment on its way, and shows none.
    """

    invoice_id: str
    customer_id: str | None
    email: str | None
    currency: str
    total: int
    amount_remaining: int
    status: str
    due: datetime | None
    issued: datetime | None
    observed: datetime
    version: int | None = None
    nothing_in_flight: bool = False


@dataclass(frozen=True)
class Event:
    """The provider's event from which facts are built: its id, the facts' source, the settings."""

    id: str
    source: str
    settings: Settings

    def fact(
        self, kind: str, time: datetime | None, data: Mapping[str, object], part: str = ""
    ) -> Fact:
        """A fact of this event. `part` makes the ids of several facts of one event distinct."""
        id = checked_id(self.id, "the event's id")
        if part:
            id = checked_id(f"{id}:{part}", "the event's id")
        return Fact(id, self.source, kind, time, dict(data))

    def own(self, id: str) -> str:
        """An invoice's or customer's id with the configured prefix.

        Raises Unusable if it is too long, or has an end that the prefix would hide.
        """
        bare = checked_id(id, "an id of an invoice or customer")
        return checked_text(self.settings.prefix + bare, "an id with its prefix")

    def observed(self, snapshot: Snapshot) -> Translation:
        """The snapshot as `invoice.observed`.

        Without a customer id the customer is identified by address (design D9); without both it is
        rejected, since nobody can be mailed. An invalid address is left out and reported, because
        the balance is still needed.
        """
        address = snapshot.email if snapshot.email and usable_address(snapshot.email) else None
        rejected: tuple[Rejected, ...] = ()
        if snapshot.email and not address:
            rejected = (Rejected("unusable_address", "the invoice's address is not one"),)
        if snapshot.customer_id is None and address is None:
            nobody = Rejected("invoice_without_customer", "it names neither customer nor address")
            return Translation(rejected=(*rejected, nobody))
        data: dict[str, object] = {
            "invoice_id": self.own(snapshot.invoice_id),
            "currency": snapshot.currency,
            "total": snapshot.total,
            "amount_remaining": snapshot.amount_remaining,
            "status": snapshot.status,
            "due_on": self._day(snapshot.due) if snapshot.due else None,
            "observed_at": rfc3339(snapshot.observed),
            "precision": "second",
        }
        if snapshot.nothing_in_flight:
            data["payment_in_flight"] = False
        if snapshot.customer_id is not None:
            data["customer_id"] = self.own(snapshot.customer_id)
        if address is not None:
            data["email"] = address
        if snapshot.issued is not None:
            data["issued_on"] = self._day(snapshot.issued)
        if snapshot.version is not None:
            data["version"] = snapshot.version
        fact = self.fact("invoice.observed", snapshot.observed, data)
        return Translation(facts=(fact,), rejected=rejected)

    def customer(
        self, customer_id: str, email: str | None, time: datetime, *, new: bool = False
    ) -> Translation:
        """A customer's address as `customer.observed`: one that is no longer told is removed.

        A `new` customer without an address had none to remove, so that is ignored.
        """
        if not email and new:
            return Translation(ignored="customer_without_address")
        if email and not usable_address(email):
            return Translation(
                rejected=(Rejected("unusable_address", "the customer's address is not one"),)
            )
        data = {"customer_id": self.own(customer_id), "emails": [email] if email else []}
        return Translation(facts=(self.fact("customer.observed", time, data),))

    def subscription(
        self,
        kind: str,
        subscription_id: str,
        customer_id: str,
        time: datetime | None,
        *,
        invoices: Iterable[str | None] = (),
        reason: str | None = None,
    ) -> Translation:
        """`subscription.ended` or `.resumed`, with the invoices of it that the event names.

        `time` None is arrival.
        """
        data: dict[str, object] = {
            "subscription_id": subscription_id,
            "customer_id": self.own(customer_id),
        }
        if time is not None:
            data["at"] = rfc3339(time)
        named = [self.own(id) for id in dict.fromkeys(invoices) if id]
        if named:
            data["invoice_ids"] = named
        if reason:
            data["reason"] = reason
        return Translation(facts=(self.fact(kind, time, data),))

    def _day(self, moment: datetime) -> str:
        return day_in(moment, self.settings.time_zone)

    def reminded(self, customer_id: str, invoice_id: str, time: datetime) -> Fact:
        """A reminder that the provider sent by itself, as `send.observed`.

        The fact names no stage, since the provider does not know our stages: the mail counts for
        the highest stage reached at that time.
        """
        data = {
            "customer_id": self.own(customer_id),
            "invoice_id": self.own(invoice_id),
            "at": rfc3339(time),
        }
        return self.fact("send.observed", time, data, "reminder")
