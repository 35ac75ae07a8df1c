"""What facts that ride along may tell where their key has not the scope `facts` (ADR 0014).

Such a key is believed what is about its own request and harms nobody: not that less is owed, not
that somebody else owes it, not another address of record. And only together with a grant.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from uuid import UUID

from eventsourcing.domain import Aggregate

from ledger.application.commands import RequestPermit
from ledger.application.facts.fact import Fact
from ledger.application.facts.registry import FACT_TYPES
from ledger.application.world import World
from ledger.domain.balance import Status
from ledger.domain.customer import Customer
from ledger.domain.invoice import Invoice
from ledger.domain.mailbox import Mailbox
from ledger.domain.reasons import Denial
from ledger.domain.thread import NOBODY, Thread

NOT_KEPT = "riding-facts-not-kept"
"""The warning of an answer whose riding facts were looked at and forgotten."""
_REFUSED = "riding_facts_refused"
_REMEDY = "it needs the scope facts, or leave them out"


def refusal_of_all() -> Denial:
    """The answer to any riding fact of a key that may tell none."""
    return Denial(_REFUSED, "this key may let no facts ride along")


def as_own(world: World, fact: Fact) -> Fact:
    """The fact without what a key that is believed only its own may not say in passing."""
    return replace(fact, data=FACT_TYPES[type(fact.data)].as_own(world, fact.data))


def refusal(
    world: World, command: RequestPermit, before: Mapping[UUID, Aggregate | None]
) -> Denial | None:
    """Why nothing is granted on the facts of this request; `before` is what they changed."""
    why = next(_not_own(world, command), None) or next(_harm(world, before), None)
    if why is None:
        return None
    return Denial(_REFUSED, f"this key may not tell the ledger {why}: {_REMEDY}")


def _not_own(world: World, command: RequestPermit) -> Iterator[str]:
    """What is about something else than the request."""
    about = command.subject.concerns()
    for fact in command.facts:
        why = FACT_TYPES[type(fact.data)].not_own(world, fact.data, about)
        if why is not None:
            yield why


def _harm(world: World, before: Mapping[UUID, Aggregate | None]) -> Iterator[str]:
    """What the facts did to what was on record."""
    for id_, old in before.items():
        new = world.aggregates[id_]
        if isinstance(new, Invoice):
            yield from _harm_to_invoice(world, old if isinstance(old, Invoice) else None, new)
        elif isinstance(new, Customer) and isinstance(old, Customer):
            yield from _harm_to_customer(old, new)
        elif isinstance(new, Customer) and any(_is_another_s(world, new, a) for a in new.addresses):
            yield f"that the address of another customer is that of {new.customer_id}"
        elif isinstance(new, Thread) and isinstance(old, Thread):
            if old.customer_id not in (NOBODY, new.customer_id):
                yield f"that thread {new.thread_id} is another customer's"
        elif isinstance(new, Mailbox):
            yield "what holds an address"


def _harm_to_invoice(world: World, old: Invoice | None, new: Invoice) -> Iterator[str]:
    if old is None or old.snapshot is None or new.snapshot is None:
        return
    name = f"invoice {new.invoice_id}"
    if world.customer(old.customer_id) is not world.customer(new.customer_id):
        yield f"that {name} is another customer's"
    if old.snapshot.currency != new.snapshot.currency:
        yield f"that {name} is in another currency"
    if new.standing.balance < old.standing.balance:
        yield f"that less is owed on {name}"
    if old.standing.status is Status.OPEN and new.standing.status is not Status.OPEN:
        yield f"that {name} is {new.standing.status}"
    if old.snapshot.address not in (None, new.snapshot.address):
        yield f"of another address on {name}"


def _harm_to_customer(old: Customer, new: Customer) -> Iterator[str]:
    name = f"customer {old.customer_id}"
    if old.merged_into != new.merged_into or old.absorbed != new.absorbed:
        yield f"that {name} and another are one"
    elif old.addresses != new.addresses:
        yield f"of another address of {name}"


def _is_another_s(world: World, customer: Customer, fingerprint: str) -> bool:
    owner_id = world.name("address", fingerprint)
    return owner_id is not None and world.customer(owner_id) is not world.customer(
        customer.customer_id
    )
