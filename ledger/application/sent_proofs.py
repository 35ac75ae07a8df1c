"""What proves that a send was made: delivery events of its mail, other mails of its send key."""

from collections.abc import Iterable

from ledger.application.effects import NameClaim, Outcome
from ledger.application.world import World
from ledger.domain.permit import FREED, Permit

_PROVED = "proved_sent"
_ALSO = "also_sent_as"
_MOST_OTHERS = 50
"""Mails of one send key beside the first that are told apart; with more no `sent` is corrected."""
_TOO_MANY = "many"


def note_proof(outcome: Outcome, permit: Permit, event: str) -> None:
    """Remember that a delivery event spoke of the permit's mail; the first one is enough."""
    outcome.names.append(NameClaim(_PROVED, permit.permit_id, event))


def note_also_sent(
    world: World, outcome: Outcome, holder_ids: Iterable[str | None], permit_id: str
) -> None:
    """Remember that a permit names a send for which another one's mail is on record.

    That is a human's repeat, or a mail that went out although the send had been made.
    """
    for holder_id in holder_ids:
        if holder_id is None or holder_id == permit_id:
            continue
        known = _others(world, holder_id)
        if permit_id not in known:
            others = [*known, permit_id] if len(known) < _MOST_OTHERS else [_TOO_MANY]
            outcome.names.append(NameClaim(_ALSO, holder_id, "+".join(others), replaces=True))


def proof_of(world: World, permit: Permit) -> str | None:
    """Why a `sent` of the permit is no mistake, or None. Raises NotLoaded.

    A stage on record may know of a bounce. A mail that went out past the ledger has no permit to
    correct: it counts as sent.
    """
    event = world.name(_PROVED, permit.permit_id)
    for item in permit.items:
        invoice = world.invoice(item.invoice_id)
        held = invoice.stages.get((item.cycle, item.stage)) if invoice else None
        if held is not None and held.permit_id == permit.permit_id and held.state == "bounced":
            event = event or "bounced"
    if event is not None:
        return f"the provider reported its mail as {event}"
    for other_id in _others(world, permit.permit_id):
        other = world.permit(other_id) if other_id != _TOO_MANY else None
        if other is None or other.state not in FREED:
            return f"its mail went out again, or may have, as {other_id}"
    return None


def _others(world: World, permit_id: str) -> list[str]:
    told = world.name(_ALSO, permit_id)
    return told.split("+") if told else []
