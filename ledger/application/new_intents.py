"""Intents that a key without a list of its own makes up: a human hears of each once (policy)."""

import hashlib

from ledger.application.effects import Alert, NameClaim, Outcome
from ledger.application.world import World
from ledger.domain.permit import Permit

MOST = 50
"""So many intents of one key are told of; then it is told once that it makes up more."""
_SEEN = "new_intent"
_COUNT = "new_intents_of"


def note_new_intent(world: World, outcome: Outcome, permit: Permit, intent: str) -> None:
    """Page for a granted intent that the policy does not know, at its first use by the key.

    Off where the policy names no `known_intents`. Keys with a list of intents cannot get here with
    another one than the list has; words of theirs that the policy does not know are told as well.
    """
    known = world.policy.known_intents
    if not known or intent in known:
        return
    name = f"{permit.key_id} {intent}"
    if world.name(_SEEN, name) is not None:
        return
    count = int(world.name(_COUNT, permit.key_id) or 0) + 1
    if count > MOST:
        return
    outcome.names.append(NameClaim(_SEEN, name, permit.permit_id))
    outcome.names.append(NameClaim(_COUNT, permit.key_id, str(count), replaces=True))
    digest = hashlib.sha256(intent.encode()).hexdigest()[:16]
    word = intent if "@" not in intent else "one with an address in it"
    more = "; further ones of this key are not told" if count == MOST else ""
    outcome.alerts.append(
        Alert(
            "new_intent",
            f"new_intent:{permit.key_id}:{digest}",
            f"{permit.sender} (key {permit.key_id}) uses an intent that the policy does not know: "
            f"{word}{more}",
            permit.customer_id,
            permit.permit_id,
        )
    )
