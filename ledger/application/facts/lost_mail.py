"""A mail went out whose permit the ledger does not know: what it carries settles its send (D13)."""

from datetime import datetime
from uuid import uuid5

from ledger.application.effects import Outcome
from ledger.application.facts.addresses import customer_of_address, ensure_customer
from ledger.application.facts.fact import Fact
from ledger.application.lost_sends import LOST_SEND, LostMail, provider_key_name, put_on_record
from ledger.application.recovery import note_unknown_permit
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.identity import Address, aggregate_id
from ledger.domain.permit import Lane, Permit, State
from ledger.domain.send_imprint import MailProof, SendImprint
from ledger.domain.value import value

_MINE = aggregate_id("lost", "send")
_PERMIT = "permit:"


@value
class Carried:
    """What was told of a mail that may be one of ours: `token` is that of `X-Ledger-Send`.

    `provider_key` is the idempotency key that its sender gave to the provider.
    """

    message_id: str | None = None
    token: str | None = None
    provider_key: str | None = None


NOTHING = Carried()


def proof_of(world: World, carried: Carried) -> MailProof | None:
    """The permit that the mail proves to have been granted here, and its imprint."""
    return world.identity.proof_in(carried.message_id, carried.token)


def load_carried(walk: Walk, carried: Carried) -> None:
    """Walk to the permit of the mail, and to what is on record where it is not known."""
    proof = walk.proof_in(carried.message_id, carried.token)
    names: tuple[str, ...] = ()
    if proof is not None and walk.permit(proof.permit_id) is None:
        names = (_PERMIT + proof.permit_id, *(proof.imprint.digests if proof.imprint else ()))
    if carried.provider_key is not None:
        names = (*names, provider_key_name(carried.provider_key))
    for name in names:
        walk.name(LOST_SEND, name)


def lost_mail_id(permit_id: str) -> str:
    """The id of the observed mail of a lost permit: the same, whoever tells of the mail."""
    return str(uuid5(_MINE, permit_id))


def note_lost_mail(
    world: World,
    outcome: Outcome,
    proof: MailProof | None,
    provider_key: str | None,
    mail: LostMail,
    said_by: str,
) -> None:
    """Put the send keys of a mail on record as used, whose permit is not known.

    A permit of which nobody had told is proof of a loss: recovery mode is entered.
    """
    names = list(proof.imprint.digests) if proof is not None and proof.imprint is not None else []
    if provider_key is not None:
        names.append(provider_key_name(provider_key))
    if proof is not None:
        known = _PERMIT + proof.permit_id
        if world.name(LOST_SEND, known) is None:
            note_unknown_permit(world, outcome, proof.permit_id, said_by)
        if names:
            names.append(known)
    put_on_record(world, outcome, names, mail)


def count_for_recipient(
    world: World, outcome: Outcome, proof: MailProof, mail: LostMail, recipient: Address
) -> None:
    """Let the mail of a lost permit count in the windows of whoever has the address."""
    customer_id = customer_of_address(world, outcome, recipient)
    customer = world.customer(customer_id)
    if customer is not None:
        customer_id = customer.customer_id
        if mail.mail_id in customer.permits:
            return
    lane = proof.imprint.lane if proof.imprint is not None else Lane.OUTREACH
    observed = observed_mail(mail, customer_id, lane, proof.imprint, address=recipient.fingerprint)
    outcome.customer_id = customer_id
    count_mail(world, outcome, observed)


def note_lost_message(
    world: World, outcome: Outcome, fact: Fact, permit_id: str, names: tuple[str, ...]
) -> None:
    """A message of these names is our own mail, of a permit that is not known."""
    proofs = (world.identity.proof_in(name) for name in names)
    proof = next((found for found in proofs if found is not None), MailProof(permit_id))
    at = fact.time or world.now
    mail = lost_mail(world, lost_mail_id(permit_id), proof, f"observed:{fact.source}", at)
    note_lost_mail(world, outcome, proof, None, mail, "a message of a thread")


def observed_mail(
    mail: LostMail,
    customer_id: str,
    lane: Lane,
    imprint: SendImprint | None = None,
    thread_id: str | None = None,
    invoice_id: str | None = None,
    address: str | None = None,
) -> Permit:
    """A mail that went out past what the ledger knows, as it counts in the windows."""
    return Permit(
        permit_id=mail.mail_id,
        kind="observed",
        lane=lane,
        state=State.SENT,
        customer_id=customer_id,
        key_id="",
        sender=mail.sender,
        redeem_required=False,
        granted_at=mail.at,
        send_by=mail.at,
        settled_at=mail.at,
        thread_id=thread_id,
        invoice_id=invoice_id,
        address=address,
        imprint=imprint.text if imprint is not None else "",
    )


def count_mail(world: World, outcome: Outcome, mail: Permit) -> None:
    """Record the mail with its customer; after an apology there is none for a while (D14)."""
    ensure_customer(world, outcome, mail.customer_id)
    outcome.change("customer", mail.customer_id, Customer.MailObserved, permit=mail)
    if mail.lane is Lane.APOLOGY:
        outcome.change(
            "customer",
            mail.customer_id,
            Customer.ApologySent,
            permit_id=mail.permit_id,
            sent_at=mail.granted_at,
        )


def lost_mail(
    world: World,
    mail_id: str,
    proof: MailProof | None,
    sender: str,
    at: datetime,
    provider_message_id: str | None = None,
) -> LostMail:
    """The mail as it is put on record; one that is dated ahead went out now."""
    permit_id = proof.permit_id if proof is not None else None
    sent_at = min(at, world.now)
    return LostMail(mail_id, permit_id, sender, sent_at, world.now, provider_message_id)
