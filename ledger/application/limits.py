"""The bounds of the engine: of its queue, its batches and its cache."""

from ledger.application.fair_queue import Places
from ledger.domain.value import value


@value
class Limits:
    """Bounds of the engine: nothing in it grows without one.

    Of the `queue` one caller may fill `a_caller` places. `reserved` are places beyond the queue for
    the ledger's own commands: webhooks, whose providers would come again only much later, and
    lapses; `operators` are places for pauses and what else humans do in need. A batch is written in
    parts of at least `part` commands, so that the database writes one while the next is decided.
    """

    batch: int = 512
    queue: int = 4096
    a_caller: int = 4096
    reserved: int = 1024
    operators: int = 256
    part: int = 16
    aggregates: int = 98_304
    catch_up: int = 20_000

    @property
    def places(self) -> Places:
        """The places of the queue of waiting commands."""
        everyone = self.queue + self.reserved
        return Places(self.queue, self.a_caller, self.operators, everyone)
