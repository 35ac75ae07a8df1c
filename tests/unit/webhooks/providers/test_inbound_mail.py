"""Inbound mail: its thread by its headers, its people without their names, loops by their marks."""

import json
from typing import Any

import pytest

from api.webhooks.bodies.mail_events import LOOP_HEADERS, bare_address, one_line
from api.webhooks.bodies.mail_ids import bracketed
from api.webhooks.bodies.mail_thread import MailHeaders
from api.webhooks.bodies.unusable import Unusable
from api.webhooks.provider import Translation
from ledger.domain.automatic import automatic_reason
from tests.unit.webhooks.bodies import known, sample, settings

REPLY = [
    {"Name": "Message-ID", "Value": "<m3@example.com>"},
    {"Name": "In-Reply-To", "Value": "<m2@ledger.example>"},
    {"Name": "References", "Value": "<m1@ledger.example>\r\n <m2@ledger.example>"},
    {"Name": "Auto-Submitted", "Value": "auto-replied"},
    {"Name": "X-Header-Test", "Value": "kept to itself"},
    {"Name": "Return-Path", "Value": "<>"},
]


def postmark(**changes: object) -> dict[str, object]:
    """The data of the message that the changed sample becomes."""
    body: Any = json.loads(sample("commune/mail_postmark.inbound.json"))
    translation = known("postmark").translate(
        {}, json.dumps(body | changes).encode(), settings("postmark")
    )
    (fact,) = translation.facts
    return fact.data


def test_a_reply_belongs_to_the_thread_of_its_first_reference() -> None:
    assert postmark(Headers=REPLY) == {
        "thread_id": "<m1@ledger.example>",
        "message_id": "<m3@example.com>",
        "direction": "inbound",
        "from": "support@example.com",
        "to": "mailbox+SampleHash@inbound.example.com",
        "reply_to": "replyto@example.com",
        "at": "2023-05-05T21:44:33Z",
        "references": ["<m1@ledger.example>", "<m2@ledger.example>"],
        "headers": {"message-id": "<m3@example.com>", "auto-submitted": "auto-replied"},
        "return_path": "<>",
    }


def test_without_references_a_mail_begins_its_own_thread() -> None:
    data = postmark(Headers=REPLY[:1])
    assert data["thread_id"] == data["message_id"] == "<m3@example.com>"
    assert "references" not in data


def test_in_reply_to_alone_is_enough() -> None:
    assert postmark(Headers=REPLY[:2])["thread_id"] == "<m2@ledger.example>"


def test_every_mark_of_a_machine_is_passed_on() -> None:
    for name in LOOP_HEADERS - {"message-id", "content-type", "x-auto-response-suppress"}:
        value = "bulk" if name == "precedence" else "auto-replied"
        data = postmark(Headers=[{"Name": name.title(), "Value": value}])
        headers = data["headers"]
        assert isinstance(headers, dict)
        assert automatic_reason(headers, None, "pat@example.com") is not None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("auto-replied", "auto-replied"),
        (" folded\r\n\tvalue ", "folded value"),
        ("nul\x00bell\x07", "nul?bell?"),
        ("x" * 300, "x" * 255),
        ("", ""),
        ("\ud800", "?"),
    ],
)
def test_a_header_is_passed_on_as_one_line(text: str, kept: str) -> None:
    assert one_line(text) == kept


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("pat@example.com", "pat@example.com"),
        ("Pat <pat@example.com>", "pat@example.com"),
        ('"Pat, Jr." <pat@example.com>', "pat@example.com"),
    ],
)
def test_names_beside_addresses_are_dropped(text: str, address: str) -> None:
    assert bare_address(text, "the sender") == address


@pytest.mark.parametrize("text", ["", "Pat", "pat@", "@example.com", "Pat <>", "a b@example.com"])
def test_what_is_no_address_is_refused_without_being_named(text: str) -> None:
    with pytest.raises(Unusable) as error:
        bare_address(text, "the sender")
    assert error.value.rejected.detail == "the sender is not an address"


def test_message_ids_have_brackets() -> None:
    assert bracketed("m1@example.com") == bracketed("<m1@example.com>") == "<m1@example.com>"


def test_references_are_bounded_and_told_once() -> None:
    many = " ".join(f"<m{number}@example.com>" for number in range(500))
    headers = MailHeaders({"references": f"<m0@example.com> {many}", "message-id": "none"})
    assert len(headers.references) == 100
    assert headers.references[:2] == ("<m0@example.com>", "<m401@example.com>")
    assert headers.message_id is None
    assert MailHeaders({}).thread_id is None


def commune(**changes: object) -> Translation:
    """The translation of the changed sample in live mode."""
    body: Any = json.loads(sample("commune/inbound.message.json"))
    body["message"] |= changes
    configured = settings("commune", mode="live")
    return known("commune").translate({}, json.dumps(body).encode(), configured)


def test_communes_direction_and_references_are_kept() -> None:
    metadata = {"references": ["<m1@ledger.example>"], "in_reply_to": "<m2@ledger.example>"}
    (fact,) = commune(direction="outbound", metadata=metadata).facts
    assert fact.data["direction"] == "outbound"
    assert fact.data["thread_id"] == "thread_abc123"
    assert fact.data["references"] == ["<m1@ledger.example>", "<m2@ledger.example>"]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"direction": "sideways"}, "unknown_status"),
        ({"participants": []}, "missing_field"),
        ({"participants": [{"role": "sender", "identity": "nobody"}]}, "unusable_address"),
        ({"created_at": "2026-02-14"}, "bad_date"),
        ({"thread_id": None}, "missing_field"),
        ({"message_id": 7}, "wrong_type"),
        ({"metadata": {"references": [5]}}, "wrong_type"),
    ],
)
def test_a_message_that_cannot_be_used_is_rejected(changes: dict[str, object], kind: str) -> None:
    translation = commune(**changes)
    assert [rejected.kind for rejected in translation.rejected] == [kind]


def test_ses_receives_mail_with_all_its_headers() -> None:
    mail = {
        "messageId": "ses-1",
        "timestamp": "2026-12-01T12:00:00Z",
        "source": "pat@example.com",
        "destination": ["billing@example.com"],
        "headers": [
            {"name": "Message-ID", "value": "<m3@example.com>"},
            {"name": "References", "value": "<m1@ledger.example>"},
            {"name": "Precedence", "value": "bulk"},
        ],
        "commonHeaders": {"from": ["Pat <pat@example.com>"], "messageId": "<m3@example.com>"},
    }
    event = json.dumps({"notificationType": "Received", "mail": mail})
    body = {"Type": "Notification", "MessageId": "sns-1", "Message": event}
    (fact,) = known("ses").translate({}, json.dumps(body).encode(), settings("ses")).facts
    assert fact.data == {
        "thread_id": "<m1@ledger.example>",
        "message_id": "<m3@example.com>",
        "direction": "inbound",
        "from": "pat@example.com",
        "to": "billing@example.com",
        "at": "2026-12-01T12:00:00Z",
        "references": ["<m1@ledger.example>"],
        "headers": {"message-id": "<m3@example.com>", "precedence": "bulk"},
        "return_path": "pat@example.com",
    }
