"""Which provider events and attempts to pay are one, as far as the ledger was told (D10)."""

from collections.abc import Mapping


def event_slot(event_id: str) -> str:
    """The place of the mail about a provider's event."""
    return f"event:{event_id}"


def attempt_slot(attempt_id: str) -> str:
    """The place of the mail about an attempt to pay."""
    return f"attempt:{attempt_id}"


def slots_of_failure(
    told: Mapping[str, tuple[str, ...]], event_id: str, attempt_id: str | None
) -> tuple[str, ...]:
    """Every place that a mail about this failure takes: those asked for, then those told as one.

    `told` are the attempts that facts named with each event. Two events of one attempt are one
    failure, and so are two attempts of one event.
    """
    events = {event_id}
    attempts = {attempt_id} if attempt_id is not None else set()
    found = 0
    while found < len(events) + len(attempts):
        found = len(events) + len(attempts)
        for event, named in told.items():
            if event in events or not attempts.isdisjoint(named):
                events.add(event)
                attempts.update(named)
    asked = [event_slot(event_id)]
    if attempt_id is not None:
        asked.append(attempt_slot(attempt_id))
    joined = [*map(event_slot, sorted(events)), *map(attempt_slot, sorted(attempts))]
    return tuple(dict.fromkeys((*asked, *joined)))
