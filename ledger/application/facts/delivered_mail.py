"""What providers say of a mail, and what it does to the permit: the mail was sent, it bounced."""

from collections.abc import Iterable

from ledger.application.effects import Alert, NameClaim, Outcome
from ledger.application.permit_settlement import settle
from ledger.application.sent_proofs import note_proof
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.invoice import Invoice
from ledger.domain.permit import FREED, Permit, State

_EARLY = "early_delivery"


def keep_early_delivery(world: World, outcome: Outcome, name: str, event: str) -> None:
    """Keep what was said of a mail under this name until a permit names it."""
    told = _told_early(world, name)
    if event not in told:
        every = "+".join(sorted({*told, event}))
        outcome.names.append(NameClaim(_EARLY, name, every, replaces=True))


def take_early_deliveries(world: World, outcome: Outcome, *names: str | None) -> set[str]:
    """What was said of a mail under these names before any permit named it; it is told once."""
    told: set[str] = set()
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
    events: Iterable[str],
    provider_message_id: str | None,
) -> None:
    """The mail of a permit was handed over after all; a bounce or complaint holds its address.

    What was done before is not done again: the same news in any order leads to the same state.
    """
    told = sorted(events)
    if permit.state is not State.SENT:
        if permit.state in FREED:
            outcome.alerts.append(sent_after_end(permit))
        reason = f"the provider says {' and '.join(told)}"
        permit = settle(world, outcome, permit, State.SENT, reason, provider_message_id)
    outcome.customer_id = permit.customer_id
    note_proof(outcome, permit, told[0])
    if "bounced" in told:
        mark_bounced(world, outcome, permit)
    if "bounced" in told or "complained" in told:
        cause = "a mail bounced" if "bounced" in told else "its owner complained"
        _hold_address(world, outcome, permit, cause)


def mark_bounced(world: World, outcome: Outcome, permit: Permit) -> None:
    """Put on record that the mail for the permit's stages came back."""
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


def _told_early(world: World, name: str) -> tuple[str, ...]:
    told = world.name(_EARLY, name)
    return tuple(told.split("+")) if told else ()


def _hold_address(world: World, outcome: Outcome, permit: Permit, cause: str) -> None:
    """Hold the address that the mail went to, and page once for each time that it is held."""
    customer = world.customer(permit.customer_id)
    if customer is None or permit.address is None or permit.address in customer.held_addresses:
        return
    outcome.change(
        "customer",
        customer.customer_id,
        Customer.AddressHeld,
        fingerprint=permit.address,
        cause=f"{cause} (permit {permit.permit_id})",
    )
    outcome.alerts.append(
        Alert(
            "address_on_hold",
            f"address_on_hold:{customer.customer_id}:{permit.address}:{permit.permit_id}",
            f"the address of customer {customer.customer_id} is on hold: {cause}",
            customer.customer_id,
            permit.permit_id,
        )
    )
