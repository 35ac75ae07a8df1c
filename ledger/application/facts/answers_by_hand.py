"""Answers that went out without a permit: each counts as the answer to what it answers."""

from collections.abc import Iterable

from ledger.application.effects import NameClaim, Outcome
from ledger.application.facts.threads import home_of, message_named
from ledger.application.permit_settlement import settle
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.conversation import ByHand
from ledger.domain.permit import Permit, State
from ledger.domain.thread import Thread, reply_slot

_EARLY = "answered"
_MOST_UNKNOWN = 10
"""How many messages that nobody has told of yet one answer is kept for: those it names last."""


def load_answered(walk: Walk, names: Iterable[str]) -> None:
    """Walk to the messages of these names, and to the threads that they are on record in."""
    for name in names:
        walk.name("message", name)
        walk.name("message_alias", name)
        thread_id = walk.named("message", name)
        if thread_id is not None:
            walk.aggregate("thread", thread_id)


def load_early_answers(walk: Walk, names: Iterable[str]) -> None:
    """Walk to what was sent in answer to a message before anybody told of the message."""
    for name in names:
        walk.name(_EARLY, name)
        thread_id = walk.named(_EARLY, name)
        if thread_id is not None:
            walk.aggregate("thread", thread_id)


def replies_overtaken(world: World, names: Iterable[str], thread_id: str) -> list[Permit]:
    """The permits on record for replies to these messages."""
    found = []
    for name in names:
        home = home_of(world, name, thread_id)
        thread = world.thread(home) if home is not None else None
        slot = reply_slot(message_named(world, name))
        held = thread.book.sends.get(slot) if thread is not None else None
        permit = world.permit(held.permit_id) if held is not None else None
        if permit is not None:
            found.append(permit)
    return found


def note_answer(
    world: World, outcome: Outcome, names: tuple[str, ...], thread_id: str, answer: ByHand
) -> None:
    """Every message that the answer refers to has been answered, told of or not.

    A permit for such a reply that is provably not out is revoked; one that may be out is left
    alone, for the answer may be its own mail under the provider's name.
    """
    unknown = []
    for name in dict.fromkeys(names):
        home = home_of(world, name, thread_id)
        if home is None:
            unknown.append(name)
            continue
        thread = world.thread(home)
        message_id = message_named(world, name)
        if thread is None or message_id not in thread.heard or message_id in thread.by_hand:
            continue
        _record(outcome, home, message_id, answer)
        for permit in replies_overtaken(world, (name,), thread_id):
            revocable = permit.live and not permit.may_be_out
            if revocable and permit.lapsed_state(world.now) is None:
                settle(world, outcome, permit, State.REVOKED, "the message was answered by hand")
    for name in unknown[-_MOST_UNKNOWN:]:
        if world.identity.permit_of(name) is None and world.name(_EARLY, name) is None:
            outcome.names.append(NameClaim(_EARLY, name, thread_id))
            _record(outcome, thread_id, name, answer)


def take_early_answer(
    world: World, outcome: Outcome, names: Iterable[str], message_id: str, thread_id: str
) -> None:
    """An answer that was told before the message answers it all the same."""
    for name in names:
        kept_in = world.name(_EARLY, name)
        thread = world.thread(kept_in) if kept_in is not None else None
        answer = thread.by_hand.get(name) if thread is not None else None
        if answer is not None and (kept_in, name) != (thread_id, message_id):
            _record(outcome, thread_id, message_id, answer)
            return


def _record(outcome: Outcome, thread_id: str, message_id: str, answer: ByHand) -> None:
    outcome.change("thread", thread_id, Thread.AnsweredByHand, message_id=message_id, answer=answer)
