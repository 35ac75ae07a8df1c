"""The conversation: whose turn it is in a thread, and which threads are one for the loop guard."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ledger.domain.value import value

if TYPE_CHECKING:
    from ledger.domain.thread import Thread

SLOWEST_CLOCK = timedelta(hours=1)
"""How far behind the date of a message may be that came in after ours and still answers it."""


@value
class Moment:
    """When something was written (UTC), and as which event of its thread the ledger heard of it."""

    at: datetime
    order: int


@value
class Heard:
    """Who wrote an inbound message, by fingerprints, and when."""

    sender: str | None
    reply_to: str | None
    when: Moment

    @property
    def writer(self) -> str | None:
        """Where a reply goes: `Reply-To`, else `From` (RFC 5322, section 3.6.2)."""
        return self.reply_to or self.sender

    def of_another(self, sender: str | None, reply_to: str | None) -> bool:
        """Is it another person's message than one with these addresses, as far as they tell?

        One message may be told with its Reply-To and without: that is no proof of two writers.
        """
        writer = reply_to or sender
        if self.writer is None or writer is None or writer == self.writer:
            return False
        if self.reply_to is not None and reply_to is not None:
            return True
        return None not in (self.sender, sender) and self.sender != sender


@value
class ByHand:
    """An answer that a person or another program sent without a permit."""

    message_id: str | None
    sender: str
    at: datetime


def has_answered(
    follow_ups: Iterable[Moment], mails: Iterable[Moment], people: Iterable[Moment]
) -> bool:
    """Has a person broken the silence that follow-ups chase?

    `follow_ups` and `mails` are ours: the numbered ones and all others. The silence began with our
    last mail before the first follow-up; without one with the first follow-up itself, and before
    any follow-up with our last mail.
    """
    first = min(follow_ups, key=_by_time, default=None)
    others = [m for m in mails if first is None or _by_time(m) < _by_time(first)]
    silent_since = max(others, key=_by_time, default=first)
    return silent_since is not None and any(_breaks(m, silent_since) for m in people)


def _breaks(heard: Moment, silent_since: Moment) -> bool:
    """Was it written since? What came in later may be dated by a clock that is slow."""
    if heard.order > silent_since.order:
        return heard.at >= silent_since.at - SLOWEST_CLOCK
    return heard.at > silent_since.at


def _by_time(moment: Moment) -> tuple[datetime, int]:
    return moment.at, moment.order


@value
class Conversation:
    """Threads that are one for the loop guard; the root keeps what is true of all of them."""

    root: "Thread"
    threads: tuple["Thread", ...]

    @property
    def name(self) -> str:
        """What a person calls it."""
        others = len(self.threads) - 1
        plural = "s" if others > 1 else ""
        also = f" and {others} thread{plural} of the same conversation" if others else ""
        return f"thread {self.root.thread_id}{also}"

    def reply_times(self, now: datetime) -> list[datetime]:
        """The instants (UTC) from which the replies of the last hour count, oldest first."""
        return sorted(at for thread in self.threads for at in thread.reply_times(now))
