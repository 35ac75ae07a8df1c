"""The token that a mail carries, where each provider hands it back."""

import json
from typing import Any

import pytest

from tests.unit.webhooks.providers.test_mail_events import report, resend, translate

TOKEN = "0" * 32 + "-no" + "a" * 26 + "-0123456789abcdef"


def with_a_token(provider: str, name: str, value: object) -> Any:
    """A delivery of each provider whose mail carried something under that name."""
    carried = {"plan": "gold", name: value}
    ses = {
        "eventType": "Delivery",
        "delivery": {"timestamp": "2026-12-01T12:00:00Z", "recipients": ["pat@example.com"]},
        "mail": {
            "messageId": "ses-1",
            "headers": [{"name": "Subject", "value": "Hi"}, {"name": name, "value": value}],
        },
    }
    return {
        "resend": resend("email.delivered", tags=carried),
        "postmark": {
            "RecordType": "Delivery",
            "MessageID": "pm-1",
            "DeliveredAt": "2026-12-01T12:00:00Z",
            "Metadata": carried,
        },
        "mailgun": {
            "event-data": {
                "event": "delivered",
                "id": "e1",
                "message": {"headers": {"message-id": "m1@example.com"}},
                "user-variables": carried,
            }
        },
        "sendgrid": [
            {"event": "delivered", "sg_event_id": "e1", "sg_message_id": "sg-1"} | carried
        ],
        "ses": {"Type": "Notification", "MessageId": "sns-1", "Message": json.dumps(ses)},
    }[provider]


CARRYING = ("resend", "postmark", "mailgun", "sendgrid", "ses")


@pytest.mark.parametrize("provider", CARRYING)
@pytest.mark.parametrize("name", ["X-Ledger-Send", "x-ledger-send", "X_LEDGER_SEND"])
def test_the_token_that_a_provider_hands_back_is_told(provider: str, name: str) -> None:
    told = report(translate(provider, with_a_token(provider, name, TOKEN), {"svix-id": "m"}))
    assert told["send_token"] == TOKEN


@pytest.mark.parametrize("provider", CARRYING)
@pytest.mark.parametrize("value", ["", 7, None, ["x"], "a\u0000b", "x" * 5000])
def test_what_is_no_token_makes_no_report_unusable(provider: str, value: object) -> None:
    body = with_a_token(provider, "X-Ledger-Send", value)
    assert "send_token" not in report(translate(provider, body, {"svix-id": "m"}))


def test_a_resend_header_carries_the_token_too() -> None:
    headers = [{"name": "X-Ledger-Send", "value": TOKEN}, "no object", {"name": 7}]
    body = resend("email.delivered", headers=headers, tags="none")
    assert report(translate("resend", body, {"svix-id": "m"}))["send_token"] == TOKEN
