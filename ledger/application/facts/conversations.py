"""Threads that are one conversation: tied by References, or by one mailbox under many tags."""

from collections.abc import Iterable
from datetime import datetime

from ledger.application.effects import NameClaim, Outcome
from ledger.application.facts.threads import permit_named
from ledger.application.walk import Walk
from ledger.application.world import LONGEST_MERGE_CHAIN, World
from ledger.domain.conversation import Conversation
from ledger.domain.identity import Address
from ledger.domain.thread import Message, Thread
from ledger.domain.windows import HOUR

_MOST_TOLD = 10
"""Threads that hear of one message in another thread: no person goes on more at a time."""


def conversation_of(world: World, thread: Thread) -> Conversation:
    """The conversation of a thread, with every thread of it whose replies may count now."""
    root = _root_of(world, thread)
    found = {root.thread_id: root, thread.thread_id: thread}
    for thread_id, until in root.branches.items():
        branch = world.thread(thread_id) if until > world.now else None
        if branch is not None:
            found[thread_id] = branch
    return Conversation(root, tuple(found.values()))


def load_conversation(walk: Walk, thread: Thread) -> None:
    """Walk to the threads that are one with this one."""
    root: object = thread
    for _ in range(LONGEST_MERGE_CHAIN):
        if not isinstance(root, Thread) or root.conversation is None:
            break
        root = walk.aggregate("thread", root.conversation)
    if isinstance(root, Thread):
        for thread_id in root.branches:
            walk.aggregate("thread", thread_id)


def load_ties(walk: Walk, references: Iterable[str], writer: Address | None) -> None:
    """Walk to the threads that a message with these references and this writer may be tied to."""
    for reference in references:
        walk.name("message", reference)
        walk.name("sent_message", reference)
        thread_id = walk.named("message", reference)
        if thread_id is not None:
            walk.aggregate("thread", thread_id)
            continue
        proof = walk.proof_in(reference, None)
        permit_id = proof.permit_id if proof is not None else walk.named("sent_message", reference)
        permit = walk.permit(permit_id) if permit_id is not None else None
        if permit is not None and permit.thread_id is not None:
            walk.aggregate("thread", permit.thread_id)
    if writer is not None:
        walk.name("untagged", writer.untagged or writer.fingerprint)


def tie(
    world: World,
    outcome: Outcome,
    thread_id: str,
    references: tuple[str, ...],
    writer: Address | None,
) -> None:
    """Make the thread one with those that the message refers to, or that came from its mailbox.

    `writer` is who wrote an inbound message. Their mailbox ties threads together as soon as it has
    written under a plus tag: who writes under one address only is counted by the windows of the
    customer. The thread may be registered in this very outcome.
    """
    thread = world.thread(thread_id)
    own = _root_of(world, thread).thread_id if thread is not None else thread_id
    tied = [_thread_referred_to(world, references)]
    untagged = (writer.untagged or writer.fingerprint) if writer is not None else None
    by_untagged = world.name("untagged", untagged) if untagged is not None else None
    tied.append(world.thread(by_untagged) if by_untagged is not None else None)
    roots = [_root_of(world, other) for other in tied if other is not None]
    others = dict.fromkeys(root.thread_id for root in roots)
    into = next(iter(others), own)
    for other in dict.fromkeys((*others, own)):
        if other != into:
            _join(world, outcome, other, into)
    tagged = writer is not None and writer.untagged is not None
    if tagged and untagged is not None and by_untagged is None:
        outcome.names.append(NameClaim("untagged", untagged, into))


def note_elsewhere(
    world: World,
    outcome: Outcome,
    references: tuple[str, ...],
    thread_id: str,
    message_id: str,
    message: Message,
    seen_at: datetime,
) -> None:
    """Tell the other threads that a message refers to of it: whoever answers there has answered.

    A message that turns out to be a machine's is taken back. The latest threads hear of it.
    """
    others = [t for t in _threads_referred_to(world, references) if t.thread_id != thread_id]
    for thread in others[:_MOST_TOLD]:
        if message.of_a_person != (message_id in thread.elsewhere):
            outcome.change(
                "thread",
                thread.thread_id,
                Thread.HeardElsewhere,
                message_id=message_id,
                message=message,
                seen_at=seen_at,
            )


def _thread_referred_to(world: World, references: tuple[str, ...]) -> Thread | None:
    """The thread of the latest message referred to that is known."""
    return next(iter(_threads_referred_to(world, references)), None)


def _threads_referred_to(world: World, references: tuple[str, ...]) -> list[Thread]:
    """The threads of the messages referred to that are known, the latest message's first."""
    found: dict[str, Thread] = {}
    for reference in reversed(references):
        thread_id = world.name("message", reference)
        if thread_id is None:
            permit = permit_named(world, reference)
            thread_id = permit.thread_id if permit is not None else None
        thread = world.thread(thread_id) if thread_id is not None else None
        if thread is not None:
            found.setdefault(thread.thread_id, thread)
    return list(found.values())


def _join(world: World, outcome: Outcome, thread_id: str, into: str) -> None:
    """Let a conversation go on as part of another, with the replies that still count."""
    outcome.change("thread", thread_id, Thread.Joined, conversation=into)
    gone = world.thread(thread_id)
    if gone is None:
        return
    own = {thread_id: world.now + world.policy.permit_life + HOUR} if gone.book.sends else {}
    for branch, until in (own | gone.branches).items():
        if until > world.now:
            outcome.change("thread", into, Thread.BranchReplied, thread_id=branch, until=until)


def _root_of(world: World, thread: Thread) -> Thread:
    """The thread in which the conversation began."""
    root = thread
    for _ in range(LONGEST_MERGE_CHAIN):
        found = world.thread(root.conversation) if root.conversation is not None else None
        if found is None:
            return root
        root = found
    raise RuntimeError(f"thread {thread.thread_id} is part of itself")
