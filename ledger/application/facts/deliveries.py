"""A provider's word on a mail: it settles the permit, also when it comes before the sender's."""

from collections.abc import Iterable

from ledger.application.effects import Alert, NameClaim, Outcome
from ledger.application.fact_data import Delivery, Fact
from ledger.application.permit_settlement import settle
from ledger.application.recovery import note_unknown_permit
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.invoice import Invoice
from ledger.domain.permit import FREED, Permit, State

_EARLY = "early_delivery"


def delivered(world: World, fact: Fact, data: Delivery) -> Outcome:
    """Settle the permit of the mail, or keep the word until a permit names this mail."""
    outcome = Outcome(result="applied")
    names = [name for name in (data.provider_message_id, data.message_id) if name is not None]
    permit = permit_of(world, data)
    if permit is not None:
        events = {data.event, *take_early_deliveries(world, outcome, *names)}
        apply_deliveries(world, outcome, permit, events, data.provider_message_id)
        if data.provider_message_id is not None:
            known_by = data.provider_message_id
            outcome.names.append(NameClaim("provider_message", known_by, permit.permit_id))
        return outcome
    if data.permit_id is not None:
        note_unknown_permit(world, outcome, data.permit_id, "a delivery report")
    if not names:
        outcome.result = "ignored"
        outcome.body = {"detail": "no permit is known for this mail"}
        return outcome
    for name in dict.fromkeys(names):
        told = _told_early(world, name)
        if data.event not in told:
            every = "+".join(sorted({*told, data.event}))
            outcome.names.append(NameClaim(_EARLY, name, every, replaces=True))
    outcome.body = {"detail": "kept until a permit names this mail"}
    return outcome


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


def permit_of(world: World, data: Delivery) -> Permit | None:
    """The permit of the mail: by our Message-ID, or by a name that its sender reported."""
    permit_id = data.permit_id
    if permit_id is None and data.message_id is not None:
        permit_id = world.name("sent_message", data.message_id)
    if permit_id is None and data.provider_message_id is not None:
        permit_id = world.name("provider_message", data.provider_message_id)
    return world.permit(permit_id) if permit_id is not None else None


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
