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
        "recipient": "pat@example.com",
    }


def test_resend_reports_on_each_of_several_recipients() -> None:
    body = resend("email.bounced", to=["Pat <pat@example.com>", "eva@example.com"])
    facts = translate("resend", body, {"svix-id": "msg_1"}).facts
    assert [(fact.id, fact.data["recipient"]) for fact in facts] == [
        ("msg_1", "pat@example.com"),
        ("msg_1:1", "eva@example.com"),
    ]
    for nobody in ([], None, "not an address"):
        assert "recipient" not in report(translate("resend", resend("email.bounced", to=nobody)))


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
    for kind in ("Transient", "Undetermined"):
        assert gave_up(translate("resend", resend("email.bounced", bounce={"type": kind})))
    assert gave_up(translate("resend", resend("email.failed")))
    for kind in ("email.sent", "email.opened", "email.delivery_delayed", "contact.deleted"):
        assert translate("resend", resend(kind)) == IGNORED


def mailgun(event: str, **members: object) -> dict[str, object]:
    return {
        "event-data": {
            "id": "mg_1",
            "event": event,
            "timestamp": 1796126400.5,
            "recipient": "pat@example.com",
            "message": {"headers": {"message-id": "m1@example.com"}},
            **members,
        }
    }


@pytest.mark.parametrize(
    ("event", "members", "meaning"),
    [
        ("delivered", {}, "delivered"),
        ("failed", {"severity": "permanent"}, "bounced"),
        ("failed", {"severity": "permanent", "reason": "generic"}, "bounced"),
        ("failed", {"severity": "permanent", "reason": "suppress-bounce"}, "bounced"),
        ("failed", {"severity": "permanent", "reason": "suppress-complaint"}, "complained"),
        ("complained", {}, "complained"),
    ],
)
def test_mailgun_reports(event: str, members: dict[str, object], meaning: str) -> None:
    assert report(translate("mailgun", mailgun(event, **members))) == {
        "provider": "mailgun",
        "event": meaning,
        "provider_message_id": "<m1@example.com>",
        "message_id": "<m1@example.com>",
        "recipient": "pat@example.com",
    }


def test_an_event_of_mailgun_without_an_id_is_the_same_in_each_try() -> None:
    body = mailgun("failed", severity="permanent", id=None)
    one, again = translate("mailgun", body | {"signature": 1}), translate("mailgun", body)
    assert one == again
    other = mailgun("failed", severity="permanent", id=None, recipient="eva@example.com")
    assert translate("mailgun", other).facts[0].id != one.facts[0].id


def test_mailguns_other_events() -> None:
    assert translate("mailgun", mailgun("failed", severity="temporary")) == TEMPORARY
    assert gave_up(translate("mailgun", mailgun("rejected")))
    for reason in ("old", "espblock", "greylist"):
        late = mailgun("failed", severity="permanent", reason=reason)
        assert gave_up(translate("mailgun", late))
    for status in ({"code": 452}, {"bounce-type": "soft", "code": 550}, {"code": "421"}):
        soft = {"severity": "permanent", "reason": "generic", "delivery-status": status}
        assert gave_up(translate("mailgun", mailgun("failed", **soft)))
        suppressed = mailgun("failed", **soft | {"reason": "suppress-bounce"})
        assert report(translate("mailgun", suppressed))["event"] == "bounced"
    for status in ({"code": 550}, {"bounce-type": "hard", "code": 498}, {"code": None}):
        hard = {"severity": "permanent", "reason": "bounce", "delivery-status": status}
        assert report(translate("mailgun", mailgun("failed", **hard)))["event"] == "bounced"
    for event in ("accepted", "opened", "clicked", "stored"):
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
        "recipient": "pat@example.com",
    }


def test_an_event_of_sendgrid_without_an_id_is_the_same_in_each_try() -> None:
    events = [sendgrid("bounce", sg_event_id=None), sendgrid("bounce", sg_event_id="", email="e@x")]
    one, other = translate("sendgrid", events).facts
    assert one.id.startswith("sha256:")
    assert one.id != other.id
    assert translate("sendgrid", events[:1]).facts == (one,)


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
    assert [(fact.id, fact.type) for fact in translation.facts] == [
        ("a", "delivery"),
        ("b", "delivery"),
        ("sg_1", "address.hold"),
    ]
    assert [r.kind for r in translation.rejected] == ["wrong_type", "bad_date", "delivery_failed"]
    assert translation.ignored == "irrelevant_event"


def test_sendgrids_other_events() -> None:
    assert translate("sendgrid", []) == Translation()
    assert gave_up(translate("sendgrid", [sendgrid("bounce", type="blocked")]))
    assert gave_up(translate("sendgrid", [sendgrid("bounce", type="bounce", status="4.2.2")]))
    refused = sendgrid("bounce", type="bounce", status="5.1.1")
    assert report(translate("sendgrid", [refused]))["event"] == "bounced"
    for reason in ("Invalid SMTPAPI header", "Recipient List over Package Quota", None, 7):
        assert gave_up(translate("sendgrid", [sendgrid("dropped", reason=reason)]))
    for event in ("processed", "deferred", "open", "click"):
        assert translate("sendgrid", [sendgrid(event)]) == IGNORED
    (rejected,) = translate("sendgrid", sendgrid("delivered")).rejected
    assert rejected.kind == "malformed_json"


def test_a_delivery_that_names_no_message_is_rejected() -> None:
    event = sendgrid("delivered", sg_message_id=None)
    assert report(translate("sendgrid", [event]))["message_id"] == "<m1@example.com>"
    (rejected,) = translate("sendgrid", [event | {"smtp-id": None}]).rejected
    assert rejected.kind == "missing_field"
    nobody = event | {"smtp-id": None, "event": "bounce", "email": None}
    (rejected,) = translate("sendgrid", [nobody]).rejected
    assert rejected.kind == "missing_field"


def postmark(kind: str, **members: object) -> dict[str, object]:
    return {
        "RecordType": kind,
        "MessageID": "11111111-2222-3333-4444-555555555555",
        "ID": 42,
        "BouncedAt": "2026-12-01T07:00:00-05:00",
        "Email": "pat@example.com",
        "Recipient": "pat@example.com",
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
        "recipient": "pat@example.com",
    }


@pytest.mark.parametrize(
    ("kind", "event"), [("Bounce", "bounced"), ("SpamComplaint", "complained")]
)
def test_what_postmark_leaves_out_of_a_report_does_not_stop_it(kind: str, event: str) -> None:
    bare = {
        "RecordType": kind,
        "MessageID": "11111111-2222-3333-4444-555555555555",
        "Type": "Unsubscribe",
    }
    (fact,) = translate("postmark", bare).facts
    assert (fact.time, fact.data["event"], "recipient" in fact.data) == (None, event, False)
    assert fact.id.startswith(f"{kind.lower()}:11111111-")
    assert translate("postmark", bare | {"ID": 7}).facts[0].id == f"{kind.lower()}:7"


def test_postmarks_other_records() -> None:
    for kind in ("Transient", "AutoResponder", "AddressChange", "ChallengeVerification"):
        assert translate("postmark", postmark("Bounce", Type=kind)) == TEMPORARY
    for kind in ("SoftBounce", "DnsError", "Blocked", "DMARCPolicy", "Unknown"):
        assert gave_up(translate("postmark", postmark("Bounce", Type=kind)))
    for record in ("Open", "Click"):
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


@pytest.mark.parametrize(
    ("kind", "part", "field"),
    [
        ("Delivery", "delivery", "recipients"),
        ("Bounce", "bounce", "bouncedRecipients"),
        ("Complaint", "complaint", "complainedRecipients"),
    ],
)
def test_ses_reports_on_whom_it_names(kind: str, part: str, field: str) -> None:
    named = ["pat@example.com", "Eva <eva@example.com>", "pat@example.com"]
    listed = named if kind == "Delivery" else [{"emailAddress": name} for name in named]
    report = {field: listed, "bounceType": "Permanent", **AT}
    facts = translate("ses", ses(kind, **{part: report})).facts
    assert [(fact.id, fact.data["recipient"]) for fact in facts] == [
        ("sns-1", "pat@example.com"),
        ("sns-1:1", "eva@example.com"),
    ]


def test_ses_other_messages() -> None:
    for kind in ("Transient", "Undetermined"):
        assert gave_up(translate("ses", ses("Bounce", bounce={"bounceType": kind, **AT})))
    praise = ses("Complaint", complaint={"complaintFeedbackType": "not-spam", **AT})
    assert translate("ses", praise) == Translation(ignored="not_spam")
    assert gave_up(translate("ses", ses("Reject")))
    assert gave_up(translate("ses", ses("Rendering Failure")))
    for kind in ("Send", "Open", "Click", "DeliveryDelay"):
        assert translate("ses", ses(kind)) == IGNORED
    hello = {"Type": "Notification", "MessageId": "m", "Message": "Successfully validated topic"}
    assert translate("ses", hello) == IGNORED
    for message in (None, 5, "{", '{"eventType": "Bounce", "eventType": "Send"}', "{" * 10**5):
        (rejected,) = translate("ses", hello | {"Message": message}).rejected
        assert rejected.kind in ("missing_field", "malformed_json", "duplicate_json_key")
