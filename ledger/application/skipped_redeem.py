"""A mail went out on a permit that had to be redeemed first, and was not (design D6)."""

from ledger.application.effects import Alert, Outcome
from ledger.domain.permit import Permit

SKIPPED = "redeem-skipped"
"""The warning of an answer to `sent` for such a permit."""


def skips_redeem(permit: Permit) -> bool:
    """Would a report that its mail went out say that nobody redeemed it, though somebody had to?

    Not of a guard check's probe, which no human has to hear of.
    """
    return permit.redeem_required and permit.redeemed_at is None and not permit.synthetic


def redeem_skipped(permit: Permit) -> Alert:
    """The page for a sender that mails without a redeem: one for each key, however often it does.

    What it says it sent is taken as a fact all the same: only what it does not say is at risk.
    """
    return Alert(
        "redeem_skipped",
        f"redeem_skipped:{permit.key_id}",
        f"{permit.sender} (key {permit.key_id}) mails without a redeem: if it dies before its "
        "report, the permit expires and the mail is granted again",
        permit.customer_id,
        permit.permit_id,
    )


def note_sent(outcome: Outcome, permit: Permit) -> None:
    """The mail of `permit`, as it was before this was told, went out: say so if it should not."""
    if skips_redeem(permit):
        outcome.alerts.append(redeem_skipped(permit))
