"""Holding and releasing an address, by whatever way the news came (design D21)."""

from ledger.application.effects import Alert, Outcome
from ledger.application.world import World
from ledger.domain.hold import EVERY_KIND, Hold, HoldBook, place_of
from ledger.domain.identity import aggregate_id
from ledger.domain.mailbox import BOUNCED, COMPLAINED, MOST_REASONS, Mailbox, spans, suppressed

_BAD_NEWS = {BOUNCED: "a mail bounced", COMPLAINED: "its owner complained"}
"""Reasons that somebody is told of: another address has to be found."""


def hold_address(
    world: World,
    outcome: Outcome,
    fingerprint: str,
    hold: Hold,
    *,
    source: str = "",
    customer_id: str | None = None,
    permit_id: str | None = None,
) -> bool:
    """Hold an address; page once for each time that a bounce or complaint holds it. Was it news?

    `source` told it, and may lift it; "" where nobody knows. The page names the customer and the
    permit, where they are known.
    """
    book = _book_after(world, outcome, fingerprint)
    if not book.newer(hold, source):
        return False
    held_before = suppressed(book, world.now, EVERY_KIND) is not None
    book.note(hold, source)
    cause = _BAD_NEWS.get(hold.reason, hold.reason)
    if permit_id is not None:
        cause = f"{cause} (permit {permit_id})"
    _register(world, outcome, fingerprint)
    outcome.change(
        "address",
        fingerprint,
        Mailbox.AddressHeld,
        fingerprint=fingerprint,
        hold=hold,
        cause=cause,
        source=source,
        **spans(book, world.now),
    )
    if hold.reason in _BAD_NEWS and not held_before:
        _page(world, outcome, fingerprint, cause, customer_id, permit_id)
    return True


def release_address(
    world: World,
    outcome: Outcome,
    fingerprint: str,
    lifted: Hold,
    by: str,
    reason: str,
    source: str = "",
) -> bool:
    """Lift what `source` told of an address for the kinds that `lifted` names. Was it news?"""
    book = _book_after(world, outcome, fingerprint)
    if not book.newer(lifted, source):
        return False
    book.note(lifted, source)
    _register(world, outcome, fingerprint)
    outcome.change(
        "address",
        fingerprint,
        Mailbox.AddressReleased,
        fingerprint=fingerprint,
        hold=lifted,
        by=by,
        reason=reason,
        source=source,
        **spans(book, world.now),
    )
    return True


def room_for(world: World, fingerprint: str, reason: str, source: str = "") -> bool:
    """May one more reason of this source be put on record for the address?"""
    mailbox = world.mailbox(fingerprint)
    known = mailbox.holds.holds if mailbox is not None else {}
    return place_of(reason, source) in known or len(known) < MOST_REASONS


def others_holding(world: World, fingerprint: str, reason: str, source: str) -> tuple[str, ...]:
    """Which other sources still hold the address for this reason."""
    mailbox = world.mailbox(fingerprint)
    told = mailbox.holds.by_source() if mailbox is not None else ()
    bound = {
        told_by
        for told_by, hold in told
        if hold.reason == reason and hold.held and told_by not in ("", source)
        if hold.until is None or hold.until > world.now
    }
    return tuple(sorted(bound))


def _book_after(world: World, outcome: Outcome, fingerprint: str) -> HoldBook:
    """The holds of the address as they will be after what the outcome has of it already."""
    mailbox = world.mailbox(fingerprint)
    book = mailbox.holds.copy() if mailbox is not None else HoldBook()
    own = aggregate_id("address", fingerprint)
    for change in outcome.changes:
        if change.aggregate_id == own and "hold" in change.fields:
            book.note(change.fields["hold"], change.fields["source"])
    return book


def _register(world: World, outcome: Outcome, fingerprint: str) -> None:
    if world.mailbox(fingerprint) is None:
        outcome.register(
            "address", fingerprint, Mailbox.Created, Mailbox.TOPIC, fingerprint=fingerprint
        )


def _page(
    world: World,
    outcome: Outcome,
    fingerprint: str,
    cause: str,
    customer_id: str | None,
    permit_id: str | None,
) -> None:
    mailbox = world.mailbox(fingerprint)
    time = mailbox.version if mailbox is not None else 0
    whose = f"the address of customer {customer_id}" if customer_id else "an address"
    outcome.alerts.append(
        Alert(
            "address_on_hold",
            f"address_on_hold:{fingerprint}:{time}",
            f"{whose} is on hold: {cause}",
            customer_id,
            permit_id,
        )
    )
