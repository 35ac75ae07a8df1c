"""The customer: permits and rolling windows, breaker, holds, addresses and merges (D2, D8, D9)."""

from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar

from eventsourcing.domain import Aggregate

from ledger.domain.breaker import Breaker
from ledger.domain.credits import CreditBook
from ledger.domain.hold import Hold, HoldBook
from ledger.domain.kept_permits import keep_permit
from ledger.domain.kept_reminders import keep_reminder, latest_reminder
from ledger.domain.merged_selves import absorb, leave, let_go
from ledger.domain.news import dated
from ledger.domain.permit import FREED, Lane, Permit, State
from ledger.domain.refusals import RefusalBook
from ledger.domain.subscription import Subscription, SubscriptionBook


class Customer(Aggregate):
    """A customer as the log knows them: by ids and fingerprints, never by address (D18)."""

    TOPIC: ClassVar[str] = "ledger:Customer"
    STATE: ClassVar[dict[str, Any]] = {
        "customer_id": str,
        "permits": dict[str, Permit],
        "breaker": Breaker | None,
        "holds": HoldBook,
        "addresses": tuple[str, ...],
        "addresses_observed_at": datetime | None,
        "held_addresses": dict[str, str],
        "merged_into": str | None,
        "merged_at": datetime | None,
        "absorbed": set[str],
        "apologies": dict[str, datetime],
        "formerly": dict[str, datetime],
        "credit": CreditBook,
        "reminders": dict[str, Permit],
        "subscriptions": SubscriptionBook,
        "refusals": RefusalBook,
    }
    """What a snapshot of it holds."""

    class Event(Aggregate.Event):
        """Something that happened to a customer."""

        class_version: ClassVar[int] = 1

    class Created(Event, Aggregate.Created):
        """The ledger heard of this customer for the first time."""

        TOPIC: ClassVar[str] = "ledger:Customer.Created"
        customer_id: str

    class AddressesObserved(Event):
        """The addresses that reach the customer, as fingerprints, the first preferred."""

        TOPIC: ClassVar[str] = "ledger:Customer.AddressesObserved"
        fingerprints: tuple[str, ...]
        observed_at: datetime

        def apply(self, aggregate: "Customer") -> None:
            aggregate.lose_addresses(set(aggregate.addresses) - set(self.fingerprints))
            aggregate.addresses = self.fingerprints
            aggregate.addresses_observed_at = dated(self.observed_at, self.timestamp)

    class MailPermitted(Event):
        """A permit for one mail was granted: it takes its place in the windows."""

        TOPIC: ClassVar[str] = "ledger:Customer.MailPermitted"
        permit: Permit

        def apply(self, aggregate: "Customer") -> None:
            aggregate.remember(self.permit, self.timestamp)
            if self.permit.lane is Lane.APOLOGY:
                aggregate.apologies[self.permit.permit_id] = self.timestamp

    class MailObserved(Event):
        """A mail went out past the ledger; it counts in the windows as one that was permitted."""

        TOPIC: ClassVar[str] = "ledger:Customer.MailObserved"
        permit: Permit

        def apply(self, aggregate: "Customer") -> None:
            aggregate.remember(self.permit, self.timestamp)

    class MailRedeemed(Event):
        """A permit was redeemed: the sender is about to hand the mail over."""

        TOPIC: ClassVar[str] = "ledger:Customer.MailRedeemed"
        permit_id: str
        attempt: str | None

        def apply(self, aggregate: "Customer") -> None:
            held = aggregate.permits.get(self.permit_id)
            if held is not None:
                aggregate.remember(held.redeemed(self.timestamp, self.attempt), self.timestamp)

    class MailSettled(Event):
        """A permit came to an end: sent, rejected, unknown, revoked or expired; or sent at last."""

        TOPIC: ClassVar[str] = "ledger:Customer.MailSettled"
        permit_id: str
        state: State
        reason: str | None
        provider_message_id: str | None
        message_id: str | None

        def apply(self, aggregate: "Customer") -> None:
            if self.state in FREED:
                aggregate.apologies.pop(self.permit_id, None)
            ids = (self.provider_message_id, self.message_id)
            held = aggregate.permits.get(self.permit_id)
            if held is not None:
                aggregate.remember(held.settled(self.state, self.timestamp, *ids), self.timestamp)
                return
            held = aggregate.reminders.get(self.permit_id)
            if held is not None:
                keep_reminder(aggregate.reminders, held.settled(self.state, self.timestamp, *ids))

    class OutcomeCorrected(Event):
        """A named human said that a mail reported as sent never went out; its end follows."""

        TOPIC: ClassVar[str] = "ledger:Customer.OutcomeCorrected"
        permit_id: str
        was: State
        by: str
        reason: str

    class ApologySent(Event):
        """An apology went out, perhaps after its permit had been freed: none again for a while."""

        TOPIC: ClassVar[str] = "ledger:Customer.ApologySent"
        permit_id: str
        sent_at: datetime

        def apply(self, aggregate: "Customer") -> None:
            aggregate.apologies[self.permit_id] = self.sent_at

    class CapRefused(Event):
        """A full window refused a mail, and the policy does not call that a flood yet."""

        TOPIC: ClassVar[str] = "ledger:Customer.CapRefused"
        window: str

        def apply(self, aggregate: "Customer") -> None:
            aggregate.refusals.note(self.window, self.timestamp)

    class BreakerOpened(Event):
        """A cap would have been passed: nothing more of this scope until a human resets it."""

        TOPIC: ClassVar[str] = "ledger:Customer.BreakerOpened"
        scope: str
        cause: str

        def apply(self, aggregate: "Customer") -> None:
            aggregate.breaker = Breaker(self.scope, self.timestamp, self.cause)
            aggregate.refusals = RefusalBook()

    class BreakerReset(Event):
        """A named human closed the breaker, with a reason."""

        TOPIC: ClassVar[str] = "ledger:Customer.BreakerReset"
        by: str
        reason: str

        def apply(self, aggregate: "Customer") -> None:
            aggregate.breaker = None

    class HoldPlaced(Event):
        """Mail to this customer was put on hold."""

        TOPIC: ClassVar[str] = "ledger:Customer.HoldPlaced"
        hold: Hold
        held_until: datetime | None
        indefinite: bool

        def apply(self, aggregate: "Customer") -> None:
            aggregate.holds.note(self.hold)
            aggregate.overtake("the customer was put on hold", self.hold.kinds)

    class HoldLifted(Event):
        """A hold on this customer ended before its time."""

        TOPIC: ClassVar[str] = "ledger:Customer.HoldLifted"
        hold: Hold
        held_until: datetime | None
        indefinite: bool

        def apply(self, aggregate: "Customer") -> None:
            aggregate.holds.note(self.hold)

    class AddressHeld(Event):
        """Mail to an address of theirs bounced or was complained about; written no more.

        Suppression belongs to the address since ADR 0006 (Mailbox); what was held before stays.
        """

        TOPIC: ClassVar[str] = "ledger:Customer.AddressHeld"
        fingerprint: str
        cause: str

        def apply(self, aggregate: "Customer") -> None:
            aggregate.held_addresses[self.fingerprint] = self.cause

    class AddressReleased(Event):
        """A human lifted the hold of an address."""

        TOPIC: ClassVar[str] = "ledger:Customer.AddressReleased"
        fingerprint: str
        by: str
        reason: str

        def apply(self, aggregate: "Customer") -> None:
            aggregate.held_addresses.pop(self.fingerprint, None)

    class CreditNoted(Event):
        """The customer was given a credit beside any invoice, or it was taken back.

        `customer_id` is the id under which it was told, `balance` the sum of that id in this
        currency; minor units, negative for what was taken back.
        """

        TOPIC: ClassVar[str] = "ledger:Customer.CreditNoted"
        customer_id: str
        credit_id: str
        amount: int
        currency: str
        balance: int

        def apply(self, aggregate: "Customer") -> None:
            aggregate.credit.note(self.customer_id, self.currency, self.balance)

    class SubscriptionEnded(Event):
        """A subscription of this customer ended: mails that it was the reason for stop.

        `kinds` are the kinds of mail that it can be the reason for.
        """

        TOPIC: ClassVar[str] = "ledger:Customer.SubscriptionEnded"
        subscription: Subscription
        kinds: tuple[str, ...]

        def apply(self, aggregate: "Customer") -> None:
            aggregate.subscriptions.note(self.subscription)
            aggregate.overtake("a subscription of the customer ended", self.kinds)

    class SubscriptionResumed(Event):
        """A subscription that was said to have ended lives on."""

        TOPIC: ClassVar[str] = "ledger:Customer.SubscriptionResumed"
        subscription: Subscription

        def apply(self, aggregate: "Customer") -> None:
            aggregate.subscriptions.note(self.subscription)

    class MergedInto(Event):
        """This customer turned out to be another one, who takes everything over (D9)."""

        TOPIC: ClassVar[str] = "ledger:Customer.MergedInto"
        into: str

        def apply(self, aggregate: "Customer") -> None:
            aggregate.merged_into = self.into
            aggregate.merged_at = self.timestamp

    class Absorbed(Event):
        """Another customer was merged into this one: its windows, holds and breaker carry over."""

        TOPIC: ClassVar[str] = "ledger:Customer.Absorbed"
        class_version: ClassVar[int] = 2
        customer_id: str
        permits: tuple[Permit, ...]
        holds: tuple[Hold, ...]
        breaker: Breaker | None
        addresses: tuple[str, ...]
        held_addresses: dict[str, str]
        apologies: dict[str, datetime]
        held_until: datetime | None
        indefinite: bool
        absorbed: tuple[str, ...] = ()
        formerly: dict[str, datetime] = field(default_factory=dict)
        credits: dict[str, dict[str, int]] = field(default_factory=dict)
        reminders: tuple[Permit, ...] = ()
        subscriptions: tuple[Subscription, ...] = ()

        @staticmethod
        def upcast_v1_v2(state: dict[str, Any]) -> None:
            """Before partings and credit nobody had been parted, and nobody had credit."""
            state.setdefault("formerly", {})
            state.setdefault("credits", {})

        def apply(self, aggregate: "Customer") -> None:
            absorb(aggregate, self)

    class Unmerged(Event):
        """This customer was not the one that they were merged into: they are their own again.

        `ids` are their own and those that were merged into them, `others` those of the customer
        that they leave. `permits` were theirs before the merge. The rest is of the two as one:
        holds, the breaker, held addresses, reminders and apologies stay with both.
        """

        TOPIC: ClassVar[str] = "ledger:Customer.Unmerged"
        ids: tuple[str, ...]
        others: tuple[str, ...]
        permits: tuple[Permit, ...]
        holds: tuple[Hold, ...]
        breaker: Breaker | None
        held_addresses: dict[str, str]
        apologies: dict[str, datetime]
        held_until: datetime | None
        indefinite: bool
        formerly: dict[str, datetime]
        credits: dict[str, dict[str, int]]
        reminders: tuple[Permit, ...] = ()
        subscriptions: tuple[Subscription, ...] = ()

        def apply(self, aggregate: "Customer") -> None:
            leave(aggregate, self)

    class LetGo(Event):
        """A customer who had been merged into this one is their own again.

        `ids` go with them, and so do their `permits` and `subscriptions`; `addresses` stay.
        """

        TOPIC: ClassVar[str] = "ledger:Customer.LetGo"
        customer_id: str
        ids: tuple[str, ...]
        permits: tuple[str, ...]
        addresses: tuple[str, ...]
        subscriptions: tuple[str, ...] = ()

        def apply(self, aggregate: "Customer") -> None:
            let_go(aggregate, self)

    class Erased(Event):
        """The addresses were removed from the ledger; windows and counts stay (design D18)."""

        TOPIC: ClassVar[str] = "ledger:Customer.Erased"
        by: str

        def apply(self, aggregate: "Customer") -> None:
            aggregate.lose_addresses(set(aggregate.addresses))
            aggregate.addresses = ()

    def __init__(self, customer_id: str) -> None:
        self.customer_id = customer_id
        self.permits: dict[str, Permit] = {}
        self.breaker: Breaker | None = None
        self.holds = HoldBook()
        self.addresses: tuple[str, ...] = ()
        self.addresses_observed_at: datetime | None = None
        self.held_addresses: dict[str, str] = {}
        self.merged_into: str | None = None
        self.merged_at: datetime | None = None
        self.absorbed: set[str] = set()
        self.apologies: dict[str, datetime] = {}
        self.formerly: dict[str, datetime] = {}
        """Until when (UTC) the customers of other ids were this one, before they were parted."""
        self.credit = CreditBook()
        self.subscriptions = SubscriptionBook()
        self.refusals = RefusalBook()
        self.reminders: dict[str, Permit] = {}

    @property
    def reminded_at(self) -> datetime | None:
        """When the latest reminder mail counts from, by a permit or past the ledger (UTC)."""
        return latest_reminder(self.reminders)

    def lapsed(self, now: datetime) -> list[Permit]:
        """The live permits whose time is up."""
        return [p for p in self.permits.values() if p.lapses(now)]

    def last_apology(self, now: datetime, days: int) -> str | None:
        """The permit of an apology within the last `days` days, or None."""
        span = timedelta(days=days)
        return next((p for p, at in self.apologies.items() if at > now - span), None)

    def remember(self, permit: Permit, at: datetime) -> None:
        """Keep a permit in the windows and forget those that can count no more; for events only."""
        keep_permit(self.permits, permit, at)
        if permit.dunning:
            keep_reminder(self.reminders, permit)

    def overtake(self, why: str, kinds: tuple[str, ...]) -> None:
        """Mark live permits as granted under facts that no longer hold; for events only."""
        for permit in list(self.permits.values()):
            if permit.live and permit.overtaken is None and (not kinds or permit.kind in kinds):
                self.permits[permit.permit_id] = replace(permit, overtaken=why)

    def lose_addresses(self, gone: set[str]) -> None:
        """Mark live permits to addresses that are the customer's no more; for events only."""
        for permit in list(self.permits.values()):
            if permit.live and permit.address in gone and permit.overtaken is None:
                why = "its address was removed"
                self.permits[permit.permit_id] = replace(permit, overtaken=why)
