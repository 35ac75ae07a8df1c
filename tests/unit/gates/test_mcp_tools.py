"""Which tools send, what their calls say, and the permit that each needs."""

from typing import Any

import pytest

from api.gates.mcp.guard_file import GuardFile
from api.gates.mcp.tool_asks import Unclear, wanted
from api.gates.mcp.tool_mail import is_sending, mail_of

_MAIL = ("to", "subject", "body")
PAT, KIM = "pat@example.com", "kim@example.com"


def _tool(name: str, *properties: str) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"properties": {one: {} for one in properties}}}


@pytest.mark.parametrize(
    "tool",
    [
        _tool("send_email", *_MAIL),
        _tool("sendMail", "toRecipients", "subject", "htmlContent"),
        _tool("gmail.send", "recipient", "text"),
        _tool("GMAIL_SEND_EMAIL", "recipient_email", "body"),
        _tool("send-draft", "draft_id"),
        _tool("reply_to_thread", "thread_id", "body"),
        _tool("forwardMessage", "id", "to"),
        _tool("resend_message", "message_id"),
        _tool("outlook", *_MAIL),
        _tool("check_and_send", *_MAIL),
        {
            "name": "send",
            "inputSchema": {"oneOf": [{"properties": {"m": {"properties": {"to": {}}}}}]},
        },
        {"name": "send_it"},
    ],
)
def test_it_sends(tool: dict[str, Any]) -> None:
    assert is_sending(tool)


@pytest.mark.parametrize(
    "tool",
    [
        _tool("search_emails", *_MAIL),
        _tool("gmail_list_messages", "query"),
        _tool("get_send_status", "id"),
        _tool("create_draft", "subject", "body"),
        _tool("draft_reply", "thread_id", "body"),
        _tool("mark_as_read", "message_id"),
        _tool("answer_question", "question"),
        _tool("schedule_meeting", "time"),
        _tool("weather", "city"),
        {"name": "list_folders"},
    ],
)
def test_it_does_not_send(tool: dict[str, Any]) -> None:
    assert not is_sending(tool)


@pytest.mark.parametrize(
    ("arguments", "recipients"),
    [
        ({"to": "Pat <pat@example.com>, kim@example.com"}, (PAT, KIM)),
        ({"to": [PAT], "cc": [KIM]}, (PAT, KIM)),
        ({"message": {"toRecipients": [{"emailAddress": {"address": PAT}}]}}, (PAT,)),
        ({"to_email": PAT, "bcc": KIM, "reply_to": "us@acme.example"}, (PAT, KIM)),
        ({"to": {"email": PAT, "name": "Pat"}}, (PAT,)),
        ({"recipient_email": PAT, "extra_recipients": [KIM]}, (PAT, KIM)),
        ({"to": 7, "recipient": "nobody"}, ()),
    ],
)
def test_recipients_are_found_however_they_are_given(
    arguments: dict[str, Any], recipients: tuple[str, ...]
) -> None:
    assert mail_of("send_email", arguments).recipients == recipients


def _asked(name: str, arguments: dict[str, Any], **file: Any) -> dict[str, Any]:
    return wanted(name, arguments, GuardFile.model_validate(file), b"k" * 32).ask.body


def test_a_mail_without_a_name_has_its_fingerprint() -> None:
    mail = {"to": [PAT, KIM], "subject": "Your order", "body": "On its way."}
    asked = _asked("send_email", mail)
    assert (asked["kind"], asked["event_type"]) == ("notification", "agent_mail")
    assert (asked["to"], asked["cc"]) == (PAT, [KIM])
    same = {
        "to": "PAT@example.com, kim@EXAMPLE.com",
        "subject": "your  ORDER",
        "text": "on its way. ",
    }
    assert _asked("send", same)["event_id"] == asked["event_id"]
    for other in ({"to": PAT}, {"subject": "Another"}, {"body": "On its way. 2"}):
        assert _asked("send_email", mail | other)["event_id"] != asked["event_id"]


def test_what_the_agent_says_of_the_mail_counts_but_not_whom_it_goes_to() -> None:
    said = {"kind": "message", "thread_id": "t", "intent": "i", "to": KIM, "redeem": True}
    said["override"] = {"action_id": "1", "by": "an agent", "reason": "it wants to"}
    asked = _asked("send_email", {"to": PAT, "body": "b", "send_ledger": said})
    assert asked == {"kind": "message", "thread_id": "t", "intent": "i", "to": PAT}
    unnamed = _asked("send_draft", {"draft_id": "d", "send_ledger": said})
    assert unnamed["to"] == KIM


def test_an_answer_is_named_by_what_it_answers() -> None:
    want = wanted("reply", {"message_id": "<q@x>", "body": "b"}, GuardFile(), b"k")
    assert want.ask.body == {"kind": "reply", "thread_id": "q@x", "in_reply_to": "<q@x>"}
    assert want.instead is None
    sent = wanted("send", {"to": PAT, "in_reply_to": "<q@x>", "body": "b"}, GuardFile(), b"k")
    assert sent.ask.kind == "reply"
    assert sent.instead is not None
    assert _asked("send", {"to": PAT, "message_id": "m", "body": "b"})["kind"] == "notification"


def test_the_file_names_mails_by_their_arguments() -> None:
    rule = {"kind": "notification", "fields": {"event_type": "shipped", "event_id": "{order_id}"}}
    asked = _asked("ship", {"order_id": 9, "email": PAT}, tool={"ship": rule})
    assert asked == {
        "kind": "notification",
        "event_type": "shipped",
        "event_id": "9",
        "to": PAT,
    }
    with pytest.raises(Unclear):
        _asked("ship", {"email": PAT}, tool={"ship": rule})


@pytest.mark.parametrize(
    "arguments",
    [
        {"draft_id": "d"},
        {"body": "to nobody"},
        {"to": PAT, "send_ledger": {"kind": "letter"}},
        {"to": PAT, "send_ledger": "notification"},
    ],
)
def test_what_cannot_be_told_is_not_sent(arguments: dict[str, Any]) -> None:
    with pytest.raises(Unclear):
        _asked("send_email", arguments)
