"""Feeds: the sources that tell what is owed, and what is decided when one falls silent (D10)."""

from datetime import timedelta

from ledger.application.commands import NoteFeedSilence
from ledger.application.effects import Alert, Change, Outcome
from ledger.application.world import World
from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.instants import told


def note_silence(world: World, command: NoteFeedSilence) -> Outcome:
    """A source has not been heard for too long: put it on record, and tell a human once.

    `stale` where it is too early by the engine's time, which a suspect clock does not move (D16).
    """
    outcome = Outcome(result="ignored")
    source = command.source
    hours = world.policy.feed_silent_hours
    if not hours or world.now < command.heard_at + timedelta(hours=hours):
        outcome.result = "stale"
        return outcome
    if source in world.control.silent_feeds:
        return outcome
    outcome.result = "applied"
    fields = {"source": source, "heard_at": command.heard_at}
    outcome.changes.append(Change(CONTROL_ID, Control.FeedFellSilent, fields))
    outcome.alerts.append(
        Alert(
            "feed_silent",
            f"feed_silent:{source}:{command.heard_at.isoformat()}",
            f"the source {source} was last heard at {told(command.heard_at)}; "
            "what customers have paid since may be unknown",
        )
    )
    return outcome


def note_heard(world: World, outcome: Outcome, source: str) -> None:
    """A source told something; one that had fallen silent has ended its silence."""
    if source in world.control.silent_feeds:
        change = Change(CONTROL_ID, Control.FeedHeardAgain, {"source": source})
        outcome.changes.append(change)
