"""Sends that are named by a customer: their names under every id the customer ever had (D9)."""

from collections.abc import Callable

from ledger.application.permit_subjects import Digest, Notification
from ledger.application.world import World
from ledger.domain import sendkey
from ledger.domain.customer import Customer
from ledger.domain.permit import FREED, Permit
from ledger.domain.sendkey import SendKey


def key_for(subject: Notification | Digest) -> Callable[[str], SendKey]:
    """The send key of a notice or a digest under each id of its customer."""
    if isinstance(subject, Digest):
        day = subject.date.isoformat()
        return lambda customer_id: sendkey.digest_key(customer_id, subject.inbox_id, day)
    return lambda customer_id: sendkey.notification_key(
        customer_id, subject.event_type, subject.event_id
    )


def names_of(
    customer: Customer | None, customer_id: str, key_of: Callable[[str], SendKey]
) -> tuple[str, ...]:
    """The names of one send, the one under the present id first.

    A merge must not let out again what went to the customer under an id that was merged into it.
    """
    ids = (customer_id, *sorted(customer.absorbed if customer else ()))
    return tuple(sendkey.digest_of(key_of(id_)).hex() for id_ in ids)


def holder_of(world: World, names: tuple[str, ...]) -> Permit | None:
    """The permit that holds the send under any of its names, else the freed one refused most."""
    holder_ids = dict.fromkeys(world.name("send", name) for name in names)
    permits = [world.permit(holder_id) for holder_id in holder_ids if holder_id is not None]
    found = [permit for permit in permits if permit is not None]
    held = [permit for permit in found if permit.state not in FREED]
    return held[0] if held else max(found, key=lambda permit: permit.rejections, default=None)
