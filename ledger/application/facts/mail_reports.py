"""Reports of mail systems about our mails: delivery reports, read receipts, automatic answers."""

from ledger.application.effects import Outcome
from ledger.application.facts.delivered_mail import Word, apply_deliveries, sent_after_end
from ledger.application.facts.threads import permit_named
from ledger.application.permit_settlement import settle
from ledger.application.skipped_redeem import note_sent
from ledger.application.world import World
from ledger.domain.automatic import DELIVERY_REPORT, READ_RECEIPT
from ledger.domain.permit import FREED, Permit, State
from ledger.domain.value import value

_FAILED = "failed"


@value
class MailReport:
    """A report as its headers tell it (RFC 3464, RFC 8098), `type` in lower case.

    `action` is what happened to the mail: None where only the headers of the report are known, and
    a delivery report then tells of a failure. `about` is the Message-ID of the mail.
    """

    type: str
    action: str | None = None
    about: str | None = None


def permit_reported_on(
    world: World, report: MailReport | None, references: tuple[str, ...]
) -> Permit | None:
    """The permit of the mail that a machine's message is about, the latest of those it names."""
    about = report.about if report is not None else None
    for name in (*((about,) if about is not None else ()), *reversed(references)):
        permit = permit_named(world, name)
        if permit is not None:
            return permit
    return None


def note_report(
    world: World, outcome: Outcome, report: MailReport | None, references: tuple[str, ...]
) -> None:
    """A machine's message about one of our mails proves that it went out; a failure bounces it.

    A read receipt changes nothing: it may come long after, and from anybody.
    """
    if report is not None and report.type == READ_RECEIPT:
        return
    permit = permit_reported_on(world, report, references)
    if permit is None:
        return
    if report is not None and report.type == DELIVERY_REPORT and report.action in (None, _FAILED):
        apply_deliveries(world, outcome, permit, [Word("bounced")], None)
        return
    if permit.state in FREED:
        outcome.alerts.append(sent_after_end(permit))
    if permit.state is not State.SENT:
        note_sent(outcome, permit)
        settle(world, outcome, permit, State.SENT, "an automatic message about it came back")
