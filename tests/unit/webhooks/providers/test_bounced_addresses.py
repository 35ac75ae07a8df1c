"""Bounces and complaints that name an address and no mail: they hold the address."""

from typing import Any

import pytest

from tests.unit.webhooks.providers.test_mail_events import (
    mailgun,
    postmark,
    resend,
    sendgrid,
    translate,
)

NO_MAIL: dict[str, object] = {"sg_message_id": None, "smtp-id": None}


@pytest.mark.parametrize(
    ("provider", "body", "reason"),
    [
        ("sendgrid", [sendgrid("bounce", type="bounce", **NO_MAIL)], "bounced"),
        ("sendgrid", [sendgrid("dropped", reason="Bounced Address", **NO_MAIL)], "bounced"),
        ("sendgrid", [sendgrid("spamreport", **NO_MAIL)], "complained"),
        ("postmark", postmark("Bounce", Type="HardBounce", MessageID=None), "bounced"),
        ("postmark", postmark("Bounce", Type="SoftBounce", Inactive=True, MessageID=""), "bounced"),
        ("postmark", postmark("SpamComplaint", MessageID=None, ID=None), "complained"),
        ("mailgun", mailgun("failed", severity="permanent", message={"headers": {}}), "bounced"),
        ("mailgun", mailgun("complained", message={"headers": {"message-id": ""}}), "complained"),
        ("mailgun", mailgun("complained", message=None), "complained"),
        ("resend", resend("email.bounced", email_id=None), "bounced"),
    ],
)
def test_what_names_an_address_and_no_mail_holds_the_address(
    provider: str, body: Any, reason: str
) -> None:
    (fact,) = translate(provider, body).facts
    assert (fact.type, fact.time) == ("address.hold", None)
    assert fact.data == {"address": "pat@example.com", "reason": reason}
    assert translate(provider, body).facts == (fact,)


def test_reports_without_an_id_or_a_mail_differ_by_their_address() -> None:
    one, other = (
        translate("postmark", postmark("SpamComplaint", MessageID=None, ID=None, Email=email))
        for email in ("pat@example.com", "eva@example.com")
    )
    assert one.facts[0].id != other.facts[0].id
