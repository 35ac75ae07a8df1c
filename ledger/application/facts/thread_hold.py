"""`thread.hold` and `thread.unhold`: mail in a thread stops or goes on."""

from datetime import datetime

from ledger.application.effects import Outcome
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.threads import start_thread
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.hold import Hold, HoldBook
from ledger.domain.thread import NOBODY, Thread
from ledger.domain.value import value


@value
class ThreadHeld(FactData):
    """A thread was put on hold or released, for all kinds of mail or the named ones."""

    thread_id: str
    reason: str
    held: bool
    until: datetime | None = None
    kinds: tuple[str, ...] = ()


class ThreadHeldType(FactType[ThreadHeld]):
    """Holds on threads."""

    data = ThreadHeld

    def load(self, walk: Walk, data: ThreadHeld) -> None:
        """The thread."""
        walk.aggregate("thread", data.thread_id)

    def apply(self, world: World, fact: Fact, data: ThreadHeld) -> Outcome:
        """Put a thread on hold, or lift a hold; also one that nobody has told of yet."""
        outcome = Outcome(result="applied", thread_id=data.thread_id)
        thread = world.thread(data.thread_id)
        book = thread.holds if thread is not None else HoldBook()
        hold = Hold(data.reason, data.held, fact.time or world.now, data.until, data.kinds)
        if not book.newer(hold):
            outcome.result = "stale"
            return outcome
        if thread is None:
            start_thread(world, outcome, data.thread_id, NOBODY)
        event = Thread.HoldPlaced if data.held else Thread.HoldLifted
        outcome.change("thread", data.thread_id, event, hold=hold)
        return outcome
