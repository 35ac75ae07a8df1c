"""Reports of mail systems about our mails: delivery reports, read receipts, automatic answers."""

from ledger.application.effects import Alert, Outcome
from ledger.application.facts.delivered_mail import (
    Word,
    apply_deliveries,
    hold_recipient,
    sent_after_end,
)
from ledger.application.facts.threads import permit_named
from ledger.application.permit_settlement import settle
from ledger.application.skipped_redeem import note_sent
from ledger.application.world import World
from ledger.domain.automatic import DELIVERY_REPORT, READ_RECEIPT
from ledger.domain.identity import Address
from ledger.domain.permit import FREED, Permit, State
from ledger.domain.value import value

_FAILED, _DELIVERED = "failed", "delivered"


@value
class MailReport:
    """What a report tells of one recipient (RFC 3464, RFC 8098), `type` in lower case.

    `action` is what happened to the mail: None where only the headers of the report are known, and
    a delivery report then tells of a failure. `about` is the Message-ID of the mail. Without a
    `recipient` it speaks of the address that the permit was granted to. `status` is the code of RFC
    3463: the class 4 gave this mail up and says nothing against the address.
    """

    type: str
    action: str | None = None
    about: str | None = None
    recipient: Address | None = None
    status: str | None = None

    @property
    def failed(self) -> bool:
        """Did the recipient not get the mail?"""
        told = self.action or (_DELIVERED if (self.status or "").startswith("2.") else _FAILED)
        return self.type == DELIVERY_REPORT and told == _FAILED

    @property
    def soft(self) -> bool:
        """Did the mail fail for a reason that may pass, so that the address may be good?"""
        return self.status is not None and self.status.startswith("4.")


def names_in(reports: tuple[MailReport, ...]) -> tuple[str, ...]:
    """The Message-IDs of the mails that the reports are about."""
    return tuple(dict.fromkeys(r.about for r in reports if r.about is not None))


def permit_reported_on(
    world: World, reports: tuple[MailReport, ...], references: tuple[str, ...]
) -> Permit | None:
    """The permit of the mail that a machine's message is about, the latest of those it names."""
    for name in (*names_in(reports), *reversed(references)):
        permit = permit_named(world, name)
        if permit is not None:
            return permit
    return None


def note_report(
    world: World,
    outcome: Outcome,
    reports: tuple[MailReport, ...],
    references: tuple[str, ...],
    source: str,
) -> None:
    """A machine's message about one of our mails proves that it went out; a failure bounces it.

    A failure is that of the recipient whom it names, if the mail went to them: anybody may write
    such a report, so it holds nobody else. A read receipt changes nothing: it may come long after,
    and from anybody.
    """
    if any(report.type == READ_RECEIPT for report in reports):
        return
    permit = permit_reported_on(world, reports, references)
    if permit is None:
        return
    words = []
    for report in reports:
        if not report.failed:
            continue
        named = report.recipient.fingerprint if report.recipient is not None else ""
        if report.soft or (named and not _went_to(permit, named)):
            outcome.alerts.append(_given_up(world, permit, soft=report.soft))
            continue
        if named:
            hold_recipient(world, outcome, named, "bounced", permit, source)
        words.append(Word("bounced", named))
    if words:
        apply_deliveries(world, outcome, permit, words, None, source)
        return
    if permit.state in FREED:
        outcome.alerts.append(sent_after_end(permit))
    if permit.state is not State.SENT:
        note_sent(outcome, permit)
        settle(world, outcome, permit, State.SENT, "an automatic message about it came back")


def _went_to(permit: Permit, fingerprint: str) -> bool:
    """Was the mail for this address? Where nobody knows whom it was for, it may have been."""
    copied = any(copy.address == fingerprint for copy in permit.copies)
    return copied or permit.address in (None, fingerprint)


def _given_up(world: World, permit: Permit, *, soft: bool) -> Alert:
    """The page for a mail that did not arrive though no address is held: one a day."""
    why = "for a reason that may pass" if soft else "for a recipient whom it does not know"
    return Alert(
        "ingest_rejected",
        f"ingest_rejected:mail_report:{world.now.date().isoformat()}",
        f"a mail system gave the mail of permit {permit.permit_id} up {why}: no address is held",
        permit.customer_id,
        permit.permit_id,
    )
