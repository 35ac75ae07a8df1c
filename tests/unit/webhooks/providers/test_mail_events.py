"""Mail providers' other events: what settles a permit, what holds an address, what does neither."""

import json
from typing import Any

import pytest

from api.webhooks.provider import Translation
from tests.unit.webhooks.bodies import known, settings

IGNORED = Translation(ignored="irrelevant_event")
TEMPORARY = Translation(ignored="temporary_bounce")


def translate(provider: str, body: Any, headers: dict[str, str] | None = None) -> Translation:
    """The translation of one body in live mode."""
    configured = settings(provider, mode="live")
    return known(provider).translate(headers or {}, json.dumps(body).encode(), configured)


def report(translation: Translation) -> dict[str, object]:
    """The data of the one delivery report."""
    (fact,) = translation.facts
    assert translation == Translation(facts=(fact,))
    assert fact.type == "delivery"
    return fact.data


def gave_up(translation: Translation) -> bool:
    """Whether the provider's giving up on a mail is reported to people."""
    return translation.facts == () and [r.kind for r in translation.rejected] == ["delivery_failed"]


def resend(kind: str, **data: object) -> dict[str, object]:
    return {
        "type": kind,
        "created_at": "2026-12-01T12:00:00.123Z",
        "data": {"email_id": "re_1", "to": ["pat@example.com"], **data},
    }


@pytest.mark.parametrize(
    ("kind", "event"),
    [
        ("email.delivered", "delivered"),
        ("email.bounced", "bounced"),
        ("email.complained", "complained"),
        ("email.suppressed", "bounced"),
    ],
)
def test_resend_reports(kind: str, event: str) -> None:
    translation = translate("resend", resend(kind), {"svix-id": "msg_1"})
    assert translation.facts[0].id == "msg_1"
    assert report(translation) == {
        "provider": "resend",
        "event": event,
        "provider_message_id": "re_1",
    }


def test_resend_without_its_header_is_known_by_its_bytes() -> None:
    body = resend("email.delivered")
    one, two = translate("resend", body), translate("resend", body | {"x": 1})
    assert one.facts[0].id.startswith("sha256:")
    assert one.facts[0].id != two.facts[0].id
    assert translate("resend", body, {"webhook-id": "msg_2"}).facts[0].id == "msg_2"


def test_resend_tells_our_message_id_where_it_knows_it() -> None:
    data = report(translate("resend", resend("email.delivered", message_id="<m1@example.com>")))
    assert data["message_id"] == "<m1@example.com>"


def test_resends_other_events() -> None:
    assert translate("resend", resend("email.bounced", bounce={"type": "Transient"})) == TEMPORARY
    assert gave_up(translate("resend", resend("email.failed")))
    for kind in ("email.sent", "email.opened", "email.delivery_delayed", "contact.created"):
        assert translate("resend", resend(kind)) == IGNORED


def mailgun(event: str, **members: object) -> dict[str, object]:
    return {
        "event-data": {
            "id": "mg_1",
            "event": event,
            "timestamp": 1796126400.5,
            "message": {"headers": {"message-id": "m1@example.com"}},
            **members,
        }
    }


@pytest.mark.parametrize(
    ("event", "members", "meaning"),
    [
        ("delivered", {}, "delivered"),
        ("failed", {"severity": "permanent"}, "bounced"),
        ("complained", {}, "complained"),
    ],
)
def test_mailgun_reports(event: str, members: dict[str, object], meaning: str) -> None:
    assert report(translate("mailgun", mailgun(event, **members))) == {
        "provider": "mailgun",
        "event": meaning,
        "provider_message_id": "<m1@example.com>",
        "message_id": "<m1@example.com>",
    }


def test_mailguns_other_events() -> None:
    assert translate("mailgun", mailgun("failed", severity="temporary")) == TEMPORARY
    assert gave_up(translate("mailgun", mailgun("rejected")))
    for event in ("accepted", "opened", "clicked", "unsubscribed", "stored"):
        assert translate("mailgun", mailgun(event)) == IGNORED


def sendgrid(event: str, **members: object) -> dict[str, object]:
    return {
        "event": event,
        "email": "pat@example.com",
        "timestamp": 1796126400,
        "sg_event_id": "sg_1",
        "sg_message_id": "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
        "smtp-id": "<m1@example.com>",
        **members,
    }


@pytest.mark.parametrize(
    ("event", "members", "meaning"),
    [
        ("delivered", {}, "delivered"),
        ("bounce", {"type": "bounce"}, "bounced"),
        ("bounce", {}, "bounced"),
        ("dropped", {"reason": "Bounced Address"}, "bounced"),
        ("dropped", {"reason": "Invalid"}, "bounced"),
        ("spamreport", {}, "complained"),
    ],
)
def test_sendgrid_reports(event: str, members: dict[str, object], meaning: str) -> None:
    assert report(translate("sendgrid", [sendgrid(event, **members)])) == {
        "provider": "sendgrid",
        "event": meaning,
        "provider_message_id": "14c5d75ce93.dfd.64b469",
        "message_id": "<m1@example.com>",
    }


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("Tb3cX7VgS3aZ4y5p0Xn5rA.recvd-5f54b5d587-fczjm-1-6180C90B-13.0", "Tb3cX7VgS3aZ4y5p0Xn5rA"),
        ("Tb3cX7VgS3aZ4y5p0Xn5rA.filterdrecv-p3iad2-1", "Tb3cX7VgS3aZ4y5p0Xn5rA"),
        ("plain", "plain"),
        (".filter1", ".filter1"),
    ],
)
def test_sendgrids_message_id_is_the_one_that_the_send_call_answered(given: str, sent: str) -> None:
    data = report(translate("sendgrid", [sendgrid("delivered", sg_message_id=given)]))
    assert data["provider_message_id"] == sent


def test_one_bad_event_of_a_list_does_not_stop_the_others() -> None:
    events = [
        sendgrid("processed"),
        sendgrid("delivered", sg_event_id="a"),
        "text",
        sendgrid("delivered", timestamp="now"),
        sendgrid("bounce", sg_event_id="b"),
        sendgrid("dropped", reason="Unsubscribed Address"),
    ]
    translation = translate("sendgrid", events)
    assert [fact.id for fact in translation.facts] == ["a", "b"]
    assert [r.kind for r in translation.rejected] == ["wrong_type", "bad_date", "delivery_failed"]
    assert translation.ignored == "irrelevant_event"


def test_sendgrids_other_events() -> None:
    assert translate("sendgrid", []) == Translation()
    assert translate("sendgrid", [sendgrid("bounce", type="blocked")]) == TEMPORARY
    for event in ("processed", "deferred", "open", "click", "unsubscribe"):
        assert translate("sendgrid", [sendgrid(event)]) == IGNORED
    (rejected,) = translate("sendgrid", sendgrid("delivered")).rejected
    assert rejected.kind == "malformed_json"


def test_a_report_that_names_no_message_is_rejected() -> None:
    event = sendgrid("delivered", sg_message_id=None)
    assert report(translate("sendgrid", [event]))["message_id"] == "<m1@example.com>"
    (rejected,) = translate("sendgrid", [event | {"smtp-id": None}]).rejected
    assert rejected.kind == "missing_field"


def postmark(kind: str, **members: object) -> dict[str, object]:
    return {
        "RecordType": kind,
        "MessageID": "11111111-2222-3333-4444-555555555555",
        "ID": 42,
        "BouncedAt": "2026-12-01T07:00:00-05:00",
        "Email": "pat@example.com",
        **members,
    }


@pytest.mark.parametrize(
    ("kind", "members", "meaning", "id"),
    [
        ("Bounce", {"Type": "HardBounce"}, "bounced", "bounce:42"),
        ("Bounce", {"Type": "BadEmailAddress"}, "bounced", "bounce:42"),
        ("Bounce", {"Type": "SoftBounce", "Inactive": True}, "bounced", "bounce:42"),
        ("Bounce", {"Type": "SpamComplaint"}, "complained", "bounce:42"),
        ("SpamComplaint", {}, "complained", "spamcomplaint:42"),
        (
            "Delivery",
            {"DeliveredAt": "2026-12-01T12:00:00.1234567Z"},
            "delivered",
            "delivery:11111111-2222-3333-4444-555555555555:2026-12-01T12:00:00.123456+00:00",
        ),
    ],
)
def test_postmark_reports(kind: str, members: dict[str, object], meaning: str, id: str) -> None:
    translation = translate("postmark", postmark(kind, **members))
    assert translation.facts[0].id == id
    assert report(translation) == {
        "provider": "postmark",
        "event": meaning,
        "provider_message_id": "11111111-2222-3333-4444-555555555555",
    }


def test_postmarks_other_records() -> None:
    for kind in ("Transient", "SoftBounce", "DnsError", "AutoResponder", "Blocked"):
        assert translate("postmark", postmark("Bounce", Type=kind)) == TEMPORARY
    for record in ("Open", "Click", "SubscriptionChange"):
        assert translate("postmark", postmark(record)) == IGNORED
    (rejected,) = translate("postmark", postmark("Bounce", Type="NewKind")).rejected
    assert rejected.kind == "unknown_status"
    sample = postmark("Bounce", MessageID="00000000-0000-0000-0000-000000000000")
    assert translate("postmark", sample) == Translation(ignored="dashboard_test_event")


def ses(kind: str, name: str = "eventType", **parts: object) -> dict[str, object]:
    mail = {"messageId": "ses-1", "timestamp": "2026-12-01T11:00:00.000Z", "destination": []}
    event = {name: kind, "mail": mail, **parts}
    return {"Type": "Notification", "MessageId": "sns-1", "Message": json.dumps(event)}


AT = {"timestamp": "2026-12-01T12:00:00.000Z"}


@pytest.mark.parametrize("name", ["eventType", "notificationType"])
@pytest.mark.parametrize(
    ("kind", "parts", "meaning"),
    [
        ("Delivery", {"delivery": AT}, "delivered"),
        ("Bounce", {"bounce": {"bounceType": "Permanent", **AT}}, "bounced"),
        ("Bounce", {"bounce": {"bounceType": "Undetermined", **AT}}, "bounced"),
        ("Complaint", {"complaint": AT}, "complained"),
    ],
)
def test_ses_reports(name: str, kind: str, parts: dict[str, object], meaning: str) -> None:
    translation = translate("ses", ses(kind, name, **parts))
    assert translation.facts[0].id == "sns-1"
    assert report(translation) == {
        "provider": "ses",
        "event": meaning,
        "provider_message_id": "ses-1",
    }


def test_ses_other_messages() -> None:
    transient = ses("Bounce", bounce={"bounceType": "Transient", **AT})
    assert translate("ses", transient) == TEMPORARY
    assert gave_up(translate("ses", ses("Reject")))
    assert gave_up(translate("ses", ses("Rendering Failure")))
    for kind in ("Send", "Open", "Click", "DeliveryDelay", "Subscription"):
        assert translate("ses", ses(kind)) == IGNORED
    hello = {"Type": "Notification", "MessageId": "m", "Message": "Successfully validated topic"}
    assert translate("ses", hello) == IGNORED
    for message in (None, 5, "{", '{"eventType": "Bounce", "eventType": "Send"}', "{" * 10**5):
        (rejected,) = translate("ses", hello | {"Message": message}).rejected
        assert rejected.kind in ("missing_field", "malformed_json", "duplicate_json_key")
