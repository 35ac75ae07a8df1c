"""What the five mail providers tell of addresses: who left, who came back, and what that is of."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from api.webhooks.provider import Fact, Translation
from tests.unit.webhooks.acceptable import assert_acceptable
from tests.unit.webhooks.bodies import known, settings

PAT = "pat@example.com"
OPTIONAL = ["notification", "digest", "message", "follow_up"]
AT = datetime(2026, 12, 1, 12, tzinfo=UTC)
RFC3339, UNIX = "2026-12-01T12:00:00Z", int(AT.timestamp())


def translate(provider: str, body: Any) -> Translation:
    """The translation of one body in live mode."""
    configured = settings(provider, mode="live")
    translation = known(provider).translate({}, json.dumps(body).encode(), configured)
    assert_acceptable(translation)
    return translation


def told(facts: tuple[Fact, ...]) -> list[tuple[str, object, object, object]]:
    """Type, address, reason and kinds of each fact."""
    data = [(fact.type, fact.data) for fact in facts]
    return [(kind, d["address"], d["reason"], d.get("kinds")) for kind, d in data]


def sendgrid(event: str, **members: object) -> list[dict[str, object]]:
    return [{"event": event, "email": PAT, "timestamp": UNIX, "sg_event_id": "sg_1", **members}]


def mailgun(**members: object) -> dict[str, object]:
    told = {"event": "unsubscribed", "id": "mg_1", "timestamp": UNIX, "recipient": PAT}
    return {"event-data": told | members}


def postmark(**members: object) -> dict[str, object]:
    return {
        "RecordType": "SubscriptionChange",
        "MessageID": None,
        "ServerID": 123456,
        "MessageStream": "outbound",
        "ChangedAt": RFC3339,
        "Recipient": PAT,
        "Origin": "Recipient",
        "SuppressSending": True,
        "SuppressionReason": "ManualSuppression",
        **members,
    }


def resend(kind: str, **data: object) -> dict[str, object]:
    return {"type": kind, "created_at": RFC3339, "data": {"id": "c_1", "email": PAT, **data}}


def ses(everything: bool, topics: dict[str, str], **mail: object) -> dict[str, object]:
    status = [{"topicName": name, "subscriptionStatus": value} for name, value in topics.items()]
    change = {
        "contactList": "ours",
        "timestamp": RFC3339,
        "source": "UnsubscribeHeader",
        "newTopicPreferences": {"unsubscribeAll": everything, "topicSubscriptionStatus": status},
        "oldTopicPreferences": {"unsubscribeAll": False, "topicSubscriptionStatus": []},
    }
    event = {"eventType": "Subscription", "subscription": change}
    event["mail"] = {"messageId": "ses-1", "destination": [PAT], **mail}
    return {"Type": "Notification", "MessageId": "sns-1", "Message": json.dumps(event)}


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("mailgun", mailgun()),
        ("mailgun", mailgun(id=None, message={"headers": {"message-id": "m@x.example"}})),
        ("sendgrid", sendgrid("unsubscribe")),
        ("postmark", postmark()),
        ("postmark", postmark(MessageID="883953f4-6105-42a2-a16a-77a8eac79483")),
        ("postmark", postmark(MessageID="00000000-0000-0000-0000-000000000000")),
    ],
)
def test_an_address_that_the_provider_no_longer_mails_is_held_for_all(
    provider: str, body: Any
) -> None:
    translation = translate(provider, body)
    assert told(translation.facts) == [("address.hold", PAT, "unsubscribed", None)]
    assert translation.facts[0].time == AT
    assert translation == Translation(facts=translation.facts)
    assert translation == translate(provider, body)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"SuppressionReason": "HardBounce"}, "bounced"),
        ({"SuppressionReason": "SpamComplaint"}, "complained"),
        ({"Origin": "Customer"}, "blocked"),
        ({"Origin": "Admin"}, "blocked"),
        ({"SuppressionReason": None}, "unsubscribed"),
        ({"MessageStream": None}, "unsubscribed"),
        ({"MessageStream": "news"}, "unsubscribed: stream news"),
    ],
)
def test_postmark_says_why_it_stopped(members: dict[str, object], reason: str) -> None:
    facts = translate("postmark", postmark(**members)).facts
    assert told(facts) == [("address.hold", PAT, reason, None)]


@pytest.mark.parametrize(
    ("stream", "own"),
    [
        ("outbound", ["unsubscribed", "blocked"]),
        ("news", ["unsubscribed: stream news", "blocked: stream news"]),
    ],
)
def test_a_reactivation_at_postmark_lifts_what_it_may_have_stopped_for(
    stream: str, own: list[str]
) -> None:
    again = postmark(
        SuppressSending=False, SuppressionReason=None, Origin="Customer", MessageStream=stream
    )
    facts = translate("postmark", again).facts
    assert told(facts) == [
        ("address.unhold", PAT, reason, None) for reason in ("bounced", "complained", *own)
    ]
    assert len({fact.id for fact in facts}) == 4


@pytest.mark.parametrize(
    ("event", "kind"),
    [("group_unsubscribe", "address.hold"), ("group_resubscribe", "address.unhold")],
)
def test_a_group_of_sendgrid_is_held_by_itself_and_for_what_people_subscribe_to(
    event: str, kind: str
) -> None:
    facts = translate("sendgrid", sendgrid(event, asm_group_id=10)).facts
    assert told(facts) == [(kind, PAT, "unsubscribed: group 10", OPTIONAL)]
    (other,) = translate("sendgrid", sendgrid(event, asm_group_id=11)).facts
    assert other.data["reason"] == "unsubscribed: group 11"


def test_what_was_dropped_because_its_reader_left_is_told_and_held() -> None:
    for provider, body in (
        ("sendgrid", sendgrid("dropped", reason="Unsubscribed Address")),
        (
            "mailgun",
            mailgun(event="failed", severity="permanent", reason="suppress-unsubscribe"),
        ),
    ):
        translation = translate(provider, body)
        assert told(translation.facts) == [("address.hold", PAT, "unsubscribed", None)]
        assert [rejected.kind for rejected in translation.rejected] == ["delivery_failed"]


def test_the_preferences_that_ses_tells_are_a_state() -> None:
    facts = translate("ses", ses(True, {"offers": "OptOut", "news": "OptIn"})).facts
    assert told(facts) == [
        ("address.hold", PAT, "unsubscribed: list ours", OPTIONAL),
        ("address.hold", PAT, "unsubscribed: topic offers of ours", OPTIONAL),
        ("address.unhold", PAT, "unsubscribed: topic news of ours", OPTIONAL),
    ]
    assert [fact.id for fact in facts] == ["sns-1:0", "sns-1:1", "sns-1:2"]
    assert translate("ses", ses(False, {})).facts[0].type == "address.unhold"
    nobody = translate("ses", ses(True, {}, destination=[]))
    assert [rejected.kind for rejected in nobody.rejected] == ["missing_field"]


@pytest.mark.parametrize("kind", ["contact.created", "contact.updated"])
def test_a_contact_of_resend_who_left_gets_what_is_not_subscribed_to(kind: str) -> None:
    facts = translate("resend", resend(kind, unsubscribed=True)).facts
    reason = "unsubscribed: list Resend broadcasts"
    assert told(facts) == [("address.hold", PAT, reason, OPTIONAL)]


def test_a_contact_of_resend_comes_back() -> None:
    facts = translate("resend", resend("contact.updated", unsubscribed=False)).facts
    assert [fact.type for fact in facts] == ["address.unhold"]
    nothing = Translation(ignored="irrelevant_event")
    assert translate("resend", resend("contact.created", unsubscribed=False)) == nothing
    assert translate("resend", resend("contact.updated")) == nothing
    assert translate("resend", resend("contact.deleted")) == nothing


@pytest.mark.parametrize(
    ("origin", "reason"),
    [("bounce", "bounced"), ("complaint", "complained"), ("manual", "blocked"), (None, "blocked")],
)
def test_the_suppression_list_of_resend(origin: str | None, reason: str) -> None:
    for kind, fact in (("created", "address.hold"), ("deleted", "address.unhold")):
        facts = translate("resend", resend(f"suppression.{kind}", origin=origin)).facts
        assert told(facts) == [(fact, PAT, reason, None)]


def test_a_preference_of_nobody_is_kept() -> None:
    for provider, body in (
        ("sendgrid", sendgrid("unsubscribe", email="nobody")),
        ("mailgun", mailgun(recipient=None)),
        ("postmark", postmark(Recipient="@")),
        ("resend", resend("contact.updated", unsubscribed=True, email="")),
        ("sendgrid", sendgrid("group_unsubscribe")),
    ):
        translation = translate(provider, body)
        assert translation.facts == ()
        assert len(translation.rejected) == 1
