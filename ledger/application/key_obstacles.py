"""What a key itself forbids: its limits, its job's lease, an override that has been used."""

from ledger.application.commands import RequestPermit
from ledger.application.kinds.kind import Ask, Judged
from ledger.application.lost_sends import used_action
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.reasons import Denial


def key_obstacle(world: World, command: RequestPermit) -> Denial | None:
    """What the key's limits, its job's lease, or a used-up override forbids of the request."""
    limits = command.caller.limits
    if limits is not None:
        if not limits.allows_kind(command.kind, command.subject.goes_with):
            return Denial("key_limit", f"this key may not ask for the kind {command.kind}")
        refused = command.subject.beyond(limits)
        if refused is not None:
            return refused
        if command.job is not None and not limits.allows_job(command.caller.name, command.job.name):
            return Denial("key_limit", "this key may name only jobs of its own name")
    return _lease_obstacle(world, command) or _override_obstacle(world, command)


def customer_obstacle(world: World, command: RequestPermit, ask: Ask) -> Denial | None:
    """What the key's limits say about whose mail it would be, and where it would go.

    Nothing of a customer is told.
    """
    limits = command.caller.limits
    if limits is None or limits.customers is None or not ask.customer_id:
        return None
    customer = ask.case.customer
    ids = (ask.customer_id, *(customer.absorbed if customer is not None else ()))
    if customer is not None:
        ids = (customer.customer_id, *ids)
    if not limits.allows_customer(ids):
        return Denial("key_limit", "this key may not ask for mail to that customer")
    on_record = world.customer_on_record(ids[0])
    known = on_record.addresses if on_record is not None else ()
    if any(address.fingerprint not in known for address in command.cc):
        return Denial("key_limit", "this key may copy mail only to addresses that the customer has")
    if _goes_elsewhere(world, ask, ids[0], on_record):
        return Denial("key_limit", "this key may mail only an address that the customer has")
    return None


def _goes_elsewhere(world: World, ask: Ask, customer_id: str, on_record: Customer | None) -> bool:
    """Would the mail go to an address that is not the customer's, wherever it was told?

    Facts that ride along count for nothing here: else one could lead the mail past the hold, the
    breaker and the windows of whoever has the address. Whoever has written in the thread before is
    answered, unless another customer is known by that address.
    """
    address = ask.case.address
    if address is None or (on_record is not None and address in on_record.addresses):
        return False
    owner_id = world.name("address", address)
    owner = world.customer(owner_id) if owner_id is not None else None
    if owner_id not in (None, customer_id) and owner is not ask.case.customer:
        return True
    thread = world.thread_on_record(ask.thread_id) if ask.thread_id is not None else None
    wrote = thread is not None and any(h.writer == address for h in thread.heard.values())
    return on_record is not None and not wrote


def obstacle_on_record(world: World, command: RequestPermit) -> Denial | None:
    """What the key's limits forbid as things are on record, before any fact that rides along.

    Else the fact could say that a stranger's invoice is one of the key's own customers, and the
    answer what is known of it.
    """
    if command.caller.limits is None:
        return None
    refused = key_obstacle(world, command)
    if refused is not None:
        return refused
    ask = command.subject.ask(world, command)
    return None if isinstance(ask, Denial) else customer_obstacle(world, command, ask)


def subject_obstacle(command: RequestPermit, judged: Judged) -> Denial | None:
    """What the key's limits say about a subject that the guards let pass, as a stage now due."""
    limits = command.caller.limits
    return command.subject.beyond(limits, judged) if limits is not None else None


def _lease_obstacle(world: World, command: RequestPermit) -> Denial | None:
    if command.job is None:
        return None
    job = world.job(command.job.name)
    if job is not None and job.owned_with(command.job.token, world.now):
        return None
    owner = job.owner(world.now) if job else None
    return Denial(
        "not_owner",
        f"the token is not the current one of job {command.job.name}"
        + (f"; {owner} holds it" if owner else ""),
        available_at=job.expires_at if job and owner else None,
    )


def _override_obstacle(world: World, command: RequestPermit) -> Denial | None:
    if command.override is None:
        return None
    used_by = world.name("override", command.override.action_id)
    permit = world.permit(used_by) if used_by is not None else None
    if permit is None or permit.is_freed(world.now):
        return used_action(world, command.override.action_id)
    return Denial(
        "already_sent",
        f"action {command.override.action_id} was carried out already",
        permit_id=permit.permit_id,
    )
