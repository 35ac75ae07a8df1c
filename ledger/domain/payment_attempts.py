"""Which provider events and attempts to pay are one, as far as the ledger was told (D10)."""

from collections.abc import Iterable, Mapping

_EVENT, _ATTEMPT = "event:", "attempt:"


def event_slot(event_id: str) -> str:
    """The place of the mail about a provider's event."""
    return _EVENT + event_id


def attempt_slot(attempt_id: str) -> str:
    """The place of the mail about an attempt to pay."""
    return _ATTEMPT + attempt_id


def slots_of_failure(
    told: Mapping[str, tuple[str, ...]], event_id: str, attempt_id: str | None
) -> tuple[str, ...]:
    """Every place that a mail about this failure takes: those asked for, then those told as one.

    `told` are the attempts that facts named with each event. Two events of one attempt are one
    failure, and so are two attempts of one event.
    """
    asked = [event_slot(event_id)]
    if attempt_id is not None:
        asked.append(attempt_slot(attempt_id))
    return joined_slots(told, asked)


def joined_slots(told: Mapping[str, tuple[str, ...]], slots: Iterable[str]) -> tuple[str, ...]:
    """These places of mails about failures, then all that `told` makes one with them."""
    asked = tuple(slots)
    events = {slot.removeprefix(_EVENT) for slot in asked if slot.startswith(_EVENT)}
    attempts = {slot.removeprefix(_ATTEMPT) for slot in asked if slot.startswith(_ATTEMPT)}
    found = 0
    while found < len(events) + len(attempts):
        found = len(events) + len(attempts)
        for event, named in told.items():
            if event in events or not attempts.isdisjoint(named):
                events.add(event)
                attempts.update(named)
    joined = [*map(event_slot, sorted(events)), *map(attempt_slot, sorted(attempts))]
    return tuple(dict.fromkeys((*asked, *joined)))
