"""Mail in a thread: known threads know their customer, and keep what was sent in their slots."""

from dataclasses import replace

from ledger.application.effects import Outcome
from ledger.application.facts.threads import owned_thread, start_thread
from ledger.application.kinds.addressee import ask_of_addressee, ids_of_addressee, load_addressee
from ledger.application.kinds.ask import begin_ask, rejection_limit
from ledger.application.kinds.kind import Ask, Judged, PermitSubject, Request
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.identity import Address
from ledger.domain.permit import LIVE, Permit
from ledger.domain.reasons import Denial
from ledger.domain.sendkey import SendKey
from ledger.domain.sends import SendBook
from ledger.domain.thread import NOBODY, Thread
from ledger.domain.thread_subjects import ThreadSlot


def load_thread(walk: Walk, thread_id: str, customer_id: str | None, to: Address | None) -> None:
    """Walk to the thread and its customer; a new one is the addressee's."""
    thread = walk.aggregate("thread", thread_id)
    if isinstance(thread, Thread) and thread.customer_id != NOBODY:
        walk.customer(thread.customer_id)
        if to is not None and not walk.has(thread.customer_id, to):
            walk.owner_of(to)
    else:
        load_addressee(walk, customer_id, to)


def customers_of_thread(
    world: World, thread_id: str, customer_id: str | None, to: Address | None
) -> list[str]:
    """The id of the thread's customer, else those of the addressee."""
    thread = owned_thread(world, thread_id)
    return [thread.customer_id] if thread else ids_of_addressee(world, customer_id, to)


def holders_in_thread(world: World, thread_id: str) -> list[str]:
    """The live permits of the thread."""
    thread = world.thread(thread_id)
    sends = thread.book.sends.values() if thread is not None else ()
    return [send.permit_id for send in sends if send.state in LIVE]


def ask_of_thread(
    world: World,
    request: Request,
    subject: PermitSubject,
    thread_id: str,
    customer_id: str | None = None,
    to: Address | None = None,
) -> Ask | Denial:
    """An ask in a thread; a new one needs a customer or an address, and starts with the grant."""
    thread = owned_thread(world, thread_id)
    if thread is not None:
        customer = world.customer(thread.customer_id)
        owner = customer.customer_id if customer else thread.customer_id
        ask = begin_ask(world, request, subject, customer, owner, thread=thread)
        if isinstance(ask, Ask):
            ask.misdirected = misdirected(world, thread, to, ask.case.address)
    else:
        if customer_id is None and to is None:
            return Denial(
                "unknown_thread", f"thread {thread_id} is new: name a customer_id or an address"
            )
        ask = ask_of_addressee(world, request, subject, customer_id, to)
        if isinstance(ask, Ask):
            start_thread(world, ask.setup, thread_id, ask.customer_id)
            ask.case = replace(ask.case, thread=world.thread(thread_id))
    if isinstance(ask, Ask):
        ask.thread_id = thread_id
    return ask


def misdirected(
    world: World, thread: Thread, to: Address | None, address: str | None
) -> Denial | None:
    """Why the mail of a request that names `to` may not go to whom the thread is with.

    Whoever is first to name a thread says whose it is: else they would get what others say in it,
    under a yes for somebody else. `address` is the fingerprint of where the mail goes, None where
    the ledger knows none and leads it nowhere.
    """
    customer = world.customer(thread.customer_id)
    if to is None or address in (None, to.fingerprint):
        return None
    if customer is not None and to.fingerprint in customer.addresses:
        return None
    owner_id = world.name("address", to.fingerprint)
    owner = world.customer(owner_id) if owner_id is not None else None
    if owner is not None and owner is customer:
        return None
    return Denial(
        "invalid_request",
        f"the mail would not go to the address in `to`: "
        f"thread {thread.thread_id} is with another customer",
    )


def fill_slot(
    world: World, request: Request, ask: Ask, slot: str, key: SendKey, name: str, code: str
) -> None:
    """Ask for a slot of the thread; `code` is that of a second copy, `name` what people call it."""
    book = ask.case.thread.book if ask.case.thread else SendBook()
    limit = rejection_limit(world, request)
    ask.subjects = [Judged(slot, ThreadSlot(name, book, slot, code, limit))]
    ask.keys, ask.slots, ask.book = (key,), (slot,), book
    ask.rejections = book.rejections.get(slot, 0)


def record_slots(outcome: Outcome, thread_id: str, permit: Permit) -> None:
    """Put the permit into its slots of the thread."""
    for slot in permit.slots:
        outcome.change(
            "thread",
            thread_id,
            Thread.SendPermitted,
            permit_id=permit.permit_id,
            sender=permit.sender,
            slot=slot,
        )
