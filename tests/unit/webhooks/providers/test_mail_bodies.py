"""Every sample of Commune and of the mail providers: exactly these facts."""

import hashlib

import pytest

from api.webhooks.provider import Refresh, Translation
from tests.unit.webhooks.bodies import events, read, sample


def by_body(source: str, name: str) -> str:
    body = sample(f"commune/{name}.json")
    return "sha256:" + hashlib.sha256(source.encode() + b"\0" + body).hexdigest()


def fact(id: str, source: str, kind: str, at: str, /, **data: object) -> dict[str, object]:
    return {"id": id, "source": source, "type": kind, "time": at, "data": data}


EXPECTED = {
    "inbound.message": [
        fact(
            "inbox_xyz/msg_8f3a2b1c",
            "commune",
            "thread.message",
            "2026-02-14T10:30:00+00:00",
            thread_id="thread_abc123",
            message_id="msg_8f3a2b1c",
            direction="inbound",
            **{"from": "customer@example.com"},
            to="support@example.com",
            at="2026-02-14T10:30:00Z",
            headers={"message-id": "<unique-smtp-id@mail.example.com>"},
        )
    ],
    "inbound.synthetic_test": [
        fact(
            "inbox_example/test_msg_0123456789abcdef0123",
            "commune",
            "thread.message",
            "2026-02-14T10:30:00+00:00",
            thread_id="test_thread_0123456789abcdef",
            message_id="test_msg_0123456789abcdef0123",
            direction="inbound",
            **{"from": "test-sender@example.com"},
            to="billing@example.com",
            at="2026-02-14T10:30:00Z",
            headers={"message-id": "<test_msg_0123456789abcdef0123@test.example.com>"},
        )
    ],
    "stream.email_sent.constructed": [
        fact(
            "inbox_example/msg_0123456789abcdef0123456789abcdef",
            "commune",
            "thread.message",
            "2026-02-13T09:00:00+00:00",
            thread_id="thread_2f1c7b0e-example",
            message_id="msg_0123456789abcdef0123456789abcdef",
            direction="outbound",
            **{"from": "billing@example.com"},
            at="2026-02-13T09:00:00Z",
        )
    ],
    "delivery_events.poll_response": [
        fact(
            "evt_001",
            "commune",
            "delivery",
            "2026-02-14T10:30:15+00:00",
            provider="commune",
            event="delivered",
            provider_message_id="msg_8f3a2b1c",
        ),
        fact(
            "evt_002",
            "commune",
            "delivery",
            "2026-02-14T09:15:30+00:00",
            provider="commune",
            event="bounced",
            provider_message_id="msg_7e2a1b0c",
        ),
    ],
    "mail_resend.email.delivered": [
        fact(
            by_body("resend", "mail_resend.email.delivered"),
            "resend",
            "delivery",
            "2023-09-28T17:19:44.823000+00:00",
            provider="resend",
            event="delivered",
            provider_message_id="aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
            recipient="to@example.org",
        )
    ],
    "mail_resend.email.bounced": [
        fact(
            by_body("resend", "mail_resend.email.bounced"),
            "resend",
            "delivery",
            "2023-10-02T18:11:26.101000+00:00",
            provider="resend",
            event="bounced",
            provider_message_id="aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
            recipient="bounced@example.com",
        )
    ],
    "mail_postmark.bounce": [
        fact(
            "bounce:901542550",
            "postmark",
            "delivery",
            "2016-04-27T20:28:50.396393+00:00",
            provider="postmark",
            event="bounced",
            provider_message_id="2706ee8a-737c-4285-b032-ccd317af53ed",
            recipient="bounce@example.com",
        )
    ],
    "mail_postmark.inbound": [
        fact(
            "inbound:00000000-0000-0000-0000-000000000000",
            "postmark",
            "thread.message",
            "2023-05-05T21:44:33+00:00",
            thread_id="00000000-0000-0000-0000-000000000000",
            message_id="00000000-0000-0000-0000-000000000000",
            direction="inbound",
            **{"from": "support@example.com"},
            to="mailbox+SampleHash@inbound.example.com",
            reply_to="replyto@example.com",
            at="2023-05-05T21:44:33Z",
        )
    ],
    "mail_mailgun.failed_permanent": [
        fact(
            "hTWCTD81RtiDN-EXAMPLE",
            "mailgun",
            "delivery",
            "2018-08-12T21:47:02.389832+00:00",
            provider="mailgun",
            event="bounced",
            provider_message_id="<20180812214658.1.0DF563D0B3597700@example.org>",
            message_id="<20180812214658.1.0DF563D0B3597700@example.org>",
            recipient="invalid@example.com",
        )
    ],
    "mail_ses_sns.bounce": [
        fact(
            "19ba9823-d7f2-53c1-860e-cb10e0d13dfc",
            "ses",
            "delivery",
            "2016-01-27T14:59:44.101000+00:00",
            provider="ses",
            event="bounced",
            provider_message_id="00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa0680-000000",
            message_id="custom-message-ID",
            recipient="customer@example.com",
        )
    ],
}
OF_MAIL = {
    "mailgun.failed_permanent.without_id": [
        fact(
            "sha256:ef279bc0c9d2a3824215ba92d756699a22760344ff45b3e4ccd6a66f8d0d7e56",
            "mailgun",
            "delivery",
            "2018-08-12T21:47:02.389832+00:00",
            provider="mailgun",
            event="bounced",
            provider_message_id="<20180812214658.1.0DF563D0B3597700@example.org>",
            message_id="<20180812214658.1.0DF563D0B3597700@example.org>",
            recipient="customer@example.com",
        )
    ],
    "postmark.bounce.unsubscribe_without_bounced_at": [
        {
            "id": "bounce:555555555",
            "source": "postmark",
            "type": "delivery",
            "data": {
                "provider": "postmark",
                "event": "bounced",
                "provider_message_id": "5555555-5555555-5555-5555555",
            },
        }
    ],
    "ses.bounce.of_the_copy_only": [
        fact(
            "sns-mail/ses.bounce.of_the_copy_only.json",
            "ses",
            "delivery",
            "2016-01-27T14:59:44.101000+00:00",
            provider="ses",
            event="bounced",
            provider_message_id="00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa0680-000000",
            message_id="custom-message-ID",
            recipient="accountant@example.net",
        )
    ],
}
"""The mail went to customer@example.com; only its copy bounced."""
NOTHING = {
    "mail_resend.email.sent": Translation(ignored="irrelevant_event"),
    "mail_resend.email.received": Translation(
        refresh=(Refresh("resend", "received_email", "56761188-7520-42d8-8898-ff6fc54ce618"),)
    ),
    "send.accepted_202.response": Translation(ignored="answer_to_a_send"),
    "webhook_deliveries.list_response": Translation(ignored="list_of_webhook_deliveries"),
}
COVERED = {f"commune/{name}.json" for name in (*EXPECTED, *NOTHING)}
COVERED |= {f"mail/{name}.json" for name in OF_MAIL}


@pytest.mark.parametrize("name", OF_MAIL)
def test_a_sample_of_mail_becomes_exactly_these_facts(name: str) -> None:
    translation = read(f"mail/{name}.json")
    assert events(translation) == OF_MAIL[name]
    assert translation == Translation(facts=translation.facts)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_becomes_exactly_these_facts(name: str) -> None:
    translation = read(f"commune/{name}.json")
    assert events(translation) == EXPECTED[name]
    assert translation == Translation(facts=translation.facts)


@pytest.mark.parametrize("name", NOTHING)
def test_a_sample_without_a_fact_says_why(name: str) -> None:
    assert read(f"commune/{name}.json") == NOTHING[name]


@pytest.mark.parametrize("name", ["inbound.synthetic_test", "mail_postmark.inbound"])
def test_samples_sent_by_a_dashboard_are_ignored_in_live_mode(name: str) -> None:
    translation = read(f"commune/{name}.json", mode="live")
    assert translation == Translation(ignored="dashboard_test_event")


@pytest.mark.parametrize(
    "name", sorted(set(EXPECTED) - {"inbound.synthetic_test", "mail_postmark.inbound"})
)
def test_real_mail_counts_in_live_mode(name: str) -> None:
    path = f"commune/{name}.json"
    assert read(path, mode="live") == read(path)
