"""`delivery`: a provider's word on a mail, also when it comes before the sender's."""

from collections.abc import Iterable

from ledger.application.effects import NameClaim, Outcome
from ledger.application.facts.delivered_mail import (
    HOLDING,
    Word,
    apply_deliveries,
    hold_recipient,
    keep_early_delivery,
    take_early_deliveries,
)
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.fact_type import FactType
from ledger.application.facts.lost_mail import (
    Carried,
    count_for_recipient,
    load_carried,
    lost_mail,
    lost_mail_id,
    note_lost_mail,
    proof_of,
)
from ledger.application.recovery import note_unknown_permit
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.identity import Address
from ledger.domain.permit import Permit
from ledger.domain.value import value


@value
class Delivery(FactData):
    """A provider's word on a mail: delivered, bounced or complained about.

    `recipient` is the address that it speaks of; without one, that which the permit was granted to.
    `token` is what the mail carries in `X-Ledger-Send`, `provider_key` the idempotency key that its
    sender gave to the provider.
    """

    provider: str
    event: str
    provider_message_id: str | None = None
    message_id: str | None = None
    permit_id: str | None = None
    permanent: bool = True
    recipient: Address | None = None
    token: str | None = None
    provider_key: str | None = None

    @property
    def carried(self) -> Carried:
        """What may name the permit of the mail with our MAC."""
        return Carried(self.message_id, self.token, self.provider_key)


class DeliveryType(FactType[Delivery]):
    """Words of providers on mails."""

    data = Delivery

    def load(self, walk: Walk, data: Delivery) -> None:
        """The permit, by our id or by a name of the mail, and what was said of it early."""
        load_carried(walk, data.carried)
        proof = walk.proof_in(data.message_id, data.token)
        permit_id = data.permit_id or (proof.permit_id if proof is not None else None)
        if permit_id is not None:
            permit = walk.permit(permit_id)
            if permit is not None:
                walk.permit_parts(permit, with_address=False)
                if permit.address is not None:
                    walk.mailbox(permit.address)
        if data.recipient is not None:
            walk.owner_of(data.recipient)
        if data.message_id is not None:
            walk.name("sent_message", data.message_id)
            walk.name("early_delivery", data.message_id)
        if data.provider_message_id is not None:
            walk.name("provider_message", data.provider_message_id)
            walk.name("early_delivery", data.provider_message_id)

    def permits(self, world: World, data: Delivery) -> Iterable[Permit | None]:
        """That of the mail."""
        return (_permit_of(world, data),)

    def apply(self, world: World, fact: Fact, data: Delivery) -> Outcome:
        """Settle the permit of the mail, or keep the word until a permit names this mail.

        A recipient that it names is held at once: the mail need not be one of ours.
        """
        outcome = Outcome(result="applied")
        word = Word(data.event, data.recipient.fingerprint if data.recipient else "")
        names = [name for name in (data.provider_message_id, data.message_id) if name is not None]
        permit = _permit_of(world, data)
        if word.recipient and word.event in HOLDING:
            hold_recipient(world, outcome, word.recipient, word.event, permit, fact.source)
        if permit is not None:
            words = {word, *take_early_deliveries(world, outcome, *names)}
            named = data.provider_message_id
            apply_deliveries(world, outcome, permit, words, named, fact.source)
            if data.provider_message_id is not None:
                known_by = data.provider_message_id
                outcome.names.append(NameClaim("provider_message", known_by, permit.permit_id))
            return outcome
        _note_lost(world, outcome, fact, data)
        if not names:
            outcome.result = "ignored"
            outcome.body = {"detail": "no permit is known for this mail"}
            return outcome
        for name in dict.fromkeys(names):
            keep_early_delivery(world, outcome, name, word)
        outcome.body = {"detail": "kept until a permit names this mail"}
        return outcome


def _note_lost(world: World, outcome: Outcome, fact: Fact, data: Delivery) -> None:
    """No permit is known for the mail: where it proves one, that is lost, and its send used.

    An idempotency key proves none, and may come before its permit's sender has named the mail:
    it is taken only while the ledger waits for a gap to be filled.
    """
    proof = proof_of(world, data.carried)
    if proof is None and data.permit_id is not None:
        note_unknown_permit(world, outcome, data.permit_id, "a delivery report")
    key = data.provider_key if world.control.recovery_since is not None else None
    if proof is None and key is None:
        return
    mail_id = lost_mail_id(proof.permit_id if proof is not None else key or "")
    sender, at = f"observed:{fact.source}", fact.time or world.now
    mail = lost_mail(world, mail_id, proof, sender, at, data.provider_message_id)
    note_lost_mail(world, outcome, proof, key, mail, "a delivery report")
    if proof is not None and data.recipient is not None:
        count_for_recipient(world, outcome, proof, mail, data.recipient)


def _permit_of(world: World, data: Delivery) -> Permit | None:
    """The permit of the mail: by what it carries of it, or by a name that its sender reported."""
    proof = proof_of(world, data.carried)
    permit_id = data.permit_id or (proof.permit_id if proof is not None else None)
    if permit_id is None and data.message_id is not None:
        permit_id = world.name("sent_message", data.message_id)
    if permit_id is None and data.provider_message_id is not None:
        permit_id = world.name("provider_message", data.provider_message_id)
    return world.permit(permit_id) if permit_id is not None else None
