"""A named human corrects a `sent` that was false: the mail never went out (design D6, D22)."""

from ledger.application.commands import Correction, ReportOutcome
from ledger.application.effects import Outcome, denied
from ledger.application.permit_settlement import settle
from ledger.application.sent_proofs import proof_of
from ledger.application.world import World
from ledger.domain.customer import Customer
from ledger.domain.permit import Permit, State
from ledger.domain.reasons import Denial


def correct_sent(
    world: World, command: ReportOutcome, permit: Permit, correction: Correction
) -> tuple[Outcome, Permit]:
    """Take a false `sent` back as `rejected`; answers with the permit as it is then.

    That frees the send key, the superseded stages, the slots, and the place in the windows. It
    revives nothing else: what was revoked for this mail stays revoked, an open breaker stays open.
    A mail that a delivery event speaks of did go out, and so did one that was repeated: it stays
    `sent` (already_settled).
    """
    proof = proof_of(world, permit)
    if proof is not None:
        denial = Denial(
            "already_settled",
            f"permit {permit.permit_id} is sent: {proof}",
            permit_id=permit.permit_id,
        )
        return denied(denial, customer_id=permit.customer_id), permit
    outcome = Outcome(customer_id=permit.customer_id)
    customer = world.customer(permit.customer_id)
    outcome.change(
        "customer",
        customer.customer_id if customer else permit.customer_id,
        Customer.OutcomeCorrected,
        permit_id=permit.permit_id,
        was=permit.state,
        by=correction.by,
        reason=correction.reason,
    )
    return outcome, settle(world, outcome, permit, State.REJECTED, command.reason)
