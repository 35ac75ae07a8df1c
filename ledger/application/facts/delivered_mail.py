"""What providers say of a mail, and what it does to the permit: the mail was sent, it bounced."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ledger.application.effects import Alert, NameClaim, Outcome
from ledger.application.facts.suppression import hold_address
from ledger.application.permit_settlement import settle
from ledger.application.sent_proofs import note_proof
from ledger.application.skipped_redeem import note_sent
from ledger.application.world import World
from ledger.domain.hold import Hold
from ledger.domain.invoice import Invoice
from ledger.domain.permit import FREED, Permit, State

_EARLY = "early_delivery"
_MOST_EARLY_WORDS = 50
"""Of one mail that no permit names: a mail to more people than this is not one of ours."""
HOLDING = ("bounced", "complained")
"""Events after which the address is held."""


@dataclass(frozen=True, slots=True, order=True)
class Word:
    """An event of a mail, and the fingerprint of the recipient that it names, if it names one."""

    event: str
    recipient: str = ""

    def is_of(self, permit: Permit) -> bool:
        """Does it speak of the address that the permit was granted to? Not where it is a copy's.

        Where it names nobody, or nobody knows where the mail went, it does.
        """
        return not self.recipient or permit.address in (None, self.recipient)


def keep_early_delivery(world: World, outcome: Outcome, name: str, word: Word) -> None:
    """Keep what was said of a mail under this name until a permit names it."""
    told = _told_early(world, name)
    if word not in told and len(told) < _MOST_EARLY_WORDS:
        every = "+".join(_text_of(w) for w in sorted({*told, word}))
        outcome.names.append(NameClaim(_EARLY, name, every, replaces=True))


def take_early_deliveries(world: World, outcome: Outcome, *names: str | None) -> set[Word]:
    """What was said of a mail under these names before any permit named it; it is told once."""
    told: set[Word] = set()
    for name in dict.fromkeys(name for name in names if name is not None):
        early = _told_early(world, name)
        if early:
            outcome.names.append(NameClaim(_EARLY, name, "", replaces=True))
            told.update(early)
    return told


def apply_deliveries(
    world: World,
    outcome: Outcome,
    permit: Permit,
    words: Iterable[Word],
    provider_message_id: str | None,
    source: str = "",
) -> None:
    """The mail of a permit was handed over after all; a bounce or complaint holds its address.

    A word that names a recipient has held that address when it came; here it may mark the mail.
    What was done before is not done again: the same news in any order leads to the same state.
    `source` tells the words, and may lift the holds again; "" for words that were kept.
    """
    told = sorted(words)
    events = sorted({word.event for word in told})
    if permit.state is not State.SENT:
        if permit.state in FREED:
            outcome.alerts.append(sent_after_end(permit))
        note_sent(outcome, permit)
        reason = f"the provider says {' and '.join(events)}"
        permit = settle(world, outcome, permit, State.SENT, reason, provider_message_id)
    outcome.customer_id = permit.customer_id
    note_proof(outcome, permit, events[0])
    if any(word.event == "bounced" and word.is_of(permit) for word in told):
        mark_bounced(world, outcome, permit)
    for word in told:
        if word.event in HOLDING and not word.recipient and permit.address is not None:
            hold_recipient(world, outcome, permit.address, word.event, permit, source)


def hold_recipient(
    world: World,
    outcome: Outcome,
    fingerprint: str,
    event: str,
    permit: Permit | None,
    source: str,
) -> None:
    """Hold an address: a provider says that mail to it bounced or that its owner complained.

    Dated by its arrival: providers date such events by the mail, and no release before may lift it.
    """
    customer = world.customer(permit.customer_id) if permit is not None else None
    hold_address(
        world,
        outcome,
        fingerprint,
        Hold(event, True, world.now),
        source=source,
        customer_id=customer.customer_id if customer else world.name("address", fingerprint),
        permit_id=permit.permit_id if permit is not None else None,
    )


def mark_bounced(world: World, outcome: Outcome, permit: Permit) -> None:
    """Put on record that the permit's mail, and that for its stages, came back."""
    if not permit.bounced:
        outcome.permits.append(replace(permit, bounced=True))
    for item in permit.items:
        invoice = world.invoice(item.invoice_id)
        held = invoice.stages.get((item.cycle, item.stage)) if invoice else None
        known = held is not None and held.permit_id == permit.permit_id and held.state == "bounced"
        if known:
            continue
        outcome.change(
            "invoice",
            item.invoice_id,
            Invoice.ReminderBounced,
            permit_id=permit.permit_id,
            cycle=item.cycle,
            stage=item.stage,
        )


def sent_after_end(permit: Permit) -> Alert:
    """The page for a mail that went out although its permit had been freed."""
    return Alert(
        "sent_after_expiry",
        f"sent_after_expiry:{permit.permit_id}",
        f"permit {permit.permit_id} was {permit.state}, and its mail was sent all the same",
        permit.customer_id,
        permit.permit_id,
    )


def _told_early(world: World, name: str) -> tuple[Word, ...]:
    told = world.name(_EARLY, name)
    return tuple(_word_of(text) for text in told.split("+")) if told else ()


def _text_of(word: Word) -> str:
    return f"{word.event}@{word.recipient}" if word.recipient else word.event


def _word_of(text: str) -> Word:
    event, _, recipient = text.partition("@")
    return Word(event, recipient)
