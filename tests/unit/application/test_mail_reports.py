"""Delivery reports by mail speak of the recipients that they name (RFC 3464, ADR 0008)."""

import json
from typing import Any

import pytest

from tests.support.build import AGENT, at, customer, notification, report
from tests.support.given import Scenario, given
from tests.support.told import posted, told

MAIN, COPY, OTHER = "main@x.example", "copy@x.example", "other@x.example"


def sent(copies: tuple[str, ...] = (COPY,)) -> tuple[Scenario, str]:
    """A notice to two people that went out, and its Message-ID."""
    scenario = given(at("2026-12-03"), customer("cus_1", MAIN))
    scenario.when(notification("n1", cc=copies, by=AGENT)).granted_now()
    name = str(scenario.body["message_id"])
    return scenario.when(report(by=AGENT)), name


def dsn(about: str, **how: Any) -> Any:
    """A report that the ledger's reader passed on."""
    data = {"thread_id": "thr_dsn", "message_id": "<dsn@mx.example>", "direction": "inbound"}
    data |= {"from": "mailer-daemon@mx.example", "return_path": "<>", "references": [about]}
    return told("thread.message", data | how)


def held(scenario: Scenario) -> tuple[bool, ...]:
    """Is the main address on hold, the copy's, somebody else's?"""
    found = []
    for number, address in enumerate((MAIN, COPY, OTHER)):
        scenario.when(notification(f"probe{number}", customer=None, to=address, by=AGENT))
        found.append(scenario.body.get("code") == "address_on_hold")
    return tuple(found)


FAILED = {"type": "delivery-status", "action": "failed"}
TOLD: dict[str, tuple[dict[str, Any], tuple[bool, ...], bool]] = {
    "nobody named": ({"report": FAILED}, (True, False, False), True),
    "the copy": ({"report": FAILED | {"recipient": COPY}}, (False, True, False), False),
    "the main one": ({"report": FAILED | {"recipient": f"{MAIN}"}}, (True, False, False), True),
    "the copy, by its header": (
        {"report": FAILED, "headers": {"X-Failed-Recipients": f"Copy <{COPY}>"}},
        (False, True, False),
        False,
    ),
    "both, by the header alone": (
        {"headers": {"X-Failed-Recipients": f"{MAIN}, {COPY}"}},
        (True, True, False),
        True,
    ),
    "somebody else": (
        {"headers": {"x-failed-recipients": OTHER, "Auto-Submitted": "auto-replied"}},
        (False, False, False),
        False,
    ),
    "each of several": (
        {
            "reports": [
                {"type": "delivery-status", "action": "delivered", "recipient": MAIN},
                FAILED | {"recipient": COPY, "status": "5.1.1"},
            ]
        },
        (False, True, False),
        False,
    ),
    "soft": (
        {"report": FAILED | {"recipient": MAIN, "status": "4.4.7"}},
        (False, False, False),
        False,
    ),
    "soft for one, hard for the other": (
        {
            "report": FAILED | {"recipient": COPY, "status": "4.4.7"},
            "reports": [FAILED | {"recipient": MAIN, "status": "5.1.1"}],
        },
        (True, False, False),
        True,
    ),
    "no action, but a good status": (
        {"report": {"type": "delivery-status", "status": "2.0.0"}},
        (False, False, False),
        False,
    ),
}


@pytest.mark.parametrize("what", TOLD)
def test_a_report_holds_whom_it_names(what: str) -> None:
    fields, expected, bounced = TOLD[what]
    scenario, name = sent()
    scenario.when(dsn(name, **fields))
    alerts = scenario.alerts
    assert scenario.permit("$1").bounced is bounced
    assert held(scenario) == expected
    if what in ("somebody else", "soft"):
        assert alerts == ["ingest_rejected"]


GROUPS = {
    "the copy failed": (
        "Final-Recipient: rfc822; main@x.example\nAction: delivered\nStatus: 2.0.0",
        "Final-Recipient: rfc822; COPY@x.example\nAction: failed\nStatus: 5.1.1",
        (False, True, False),
    ),
    "the copy, passed on to another address": (
        "Final-Recipient: rfc822; main@x.example\nAction: relayed",
        "Original-Recipient: rfc822;copy@x.example\n"
        "Final-Recipient: rfc822; other@x.example\nAction: failed (no such user)",
        (False, True, False),
    ),
    "both, one softly": (
        "Final-Recipient: rfc822; main@x.example\nAction: failed\nStatus: 4.4.7",
        "Final-Recipient: rfc822; copy@x.example\nAction: Failed\nStatus: 5.1.1",
        (False, True, False),
    ),
    "a form that nobody can read": (
        "Final-Recipient: x400; /C=de/\nAction: failed",
        "Final-Recipient: rfc822; copy@x.example\nAction: delayed\nStatus: 4.0.0",
        (True, False, False),
    ),
}


@pytest.mark.parametrize("what", GROUPS)
def test_each_group_of_a_whole_mail_is_a_report_of_its_own(what: str) -> None:
    first, second, expected = GROUPS[what]
    scenario, name = sent()
    raw = "\r\n".join(
        f"""From: MAILER-DAEMON@mx.example
Message-ID: <dsn@mx.example>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example

{first}

{second}

--b
Content-Type: text/rfc822-headers

Message-ID: {name}
--b--
""".split("\n")
    )
    headers = {
        "Message-ID": "<dsn@mx.example>",
        "Content-Type": "multipart/report; report-type=delivery-status; boundary=b",
    }
    mail = {
        "timestamp": "2026-12-03T00:00:00.000Z",
        "source": "<>",
        "messageId": "m1",
        "destination": ["billing@ours.example"],
        "headers": [{"name": key, "value": text} for key, text in headers.items()],
        "commonHeaders": {"from": ["MAILER-DAEMON@mx.example"], "messageId": "<dsn@mx.example>"},
    }
    inner = {"notificationType": "Received", "mail": mail, "content": raw, "receipt": {}}
    body = {"Type": "Notification", "MessageId": "sns1", "Message": json.dumps(inner)}
    scenario.when(*posted("ses", body))
    assert held(scenario) == expected
