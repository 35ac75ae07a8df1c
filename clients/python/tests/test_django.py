"""The Django backend: a mail says what it is, is asked for, sent and reported."""

from __future__ import annotations

import json
import smtplib
from collections.abc import Iterator
from typing import Any

import pytest
from clients.python.tests.stub import Stub, no
from django.conf import settings
from django.core import mail
from django.core.mail import EmailMessage, send_mail
from django.core.mail.backends.base import BaseEmailBackend

from sendledger import Denied, Refused, kinds

if not settings.configured:
    settings.configure(
        EMAIL_BACKEND="sendledger.adapters.django.EmailBackend",
        DEFAULT_FROM_EMAIL="billing@acme.example",
        USE_I18N=False,
    )

from sendledger.adapters import django as adapter

SHIPPED = kinds.notification(event_type="shipped", event_id="9", customer_id="C1")


class RefusingBackend(BaseEmailBackend):  # type: ignore[misc]
    """A backend whose server knows no such user."""

    def send_messages(self, email_messages: Any) -> int:
        """Refuse."""
        raise smtplib.SMTPRecipientsRefused({"pat@example.com": (550, b"no such user")})


@pytest.fixture(autouse=True)
def outbox(stub: Stub) -> Iterator[list[EmailMessage]]:
    """What the backend below the ledger's has sent."""
    mail.outbox = []
    adapter._ledgers.clear()
    settings.EMAIL_BACKEND = "sendledger.adapters.django.EmailBackend"
    settings.SENDLEDGER_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.SENDLEDGER_UNMARKED = "refuse"
    settings.SENDLEDGER = {
        "url": "http://ledger.test",
        "key": "slk_test",
        "transport": stub.transport,
        "pace": stub.pace,
    }
    yield mail.outbox
    for ledger in adapter._ledgers.values():
        ledger.close()


def shipped(**more: Any) -> int:
    """Send the mail as a view does."""
    return int(send_mail("Your order", "On its way.", None, ["Pat <pat@example.com>"], **more))


def test_a_context_says_what_the_mail_is(stub: Stub, outbox: list[EmailMessage]) -> None:
    with adapter.mail_is(SHIPPED):
        assert shipped() == 1
    (sent,) = outbox
    assert sent.extra_headers["Message-ID"] == "<p.mac@ledger.example>"
    assert sent.message()["X-Ledger-Send"] == "p-token-mac"
    assert sent.message()["Auto-Submitted"] == "auto-generated"
    assert stub.bodies("permits")[0]["event_id"] == "9"
    assert stub.bodies("outcome") == [{"outcome": "sent", "provider": "django"}]


def test_a_header_says_it_too_and_does_not_leave(stub: Stub, outbox: list[EmailMessage]) -> None:
    asked = {"kind": "message", "thread_id": "T1", "intent": "refund"}
    EmailMessage(
        "Refund",
        "Done.",
        to=["pat@example.com"],
        cc=["boss@example.com"],
        headers={"X-Ledger-Ask": json.dumps(asked)},
    ).send()
    assert "X-Ledger-Ask" not in outbox[0].message()
    assert stub.bodies("permits") == [{**asked, "cc": ["boss@example.com"]}]


def test_a_mail_that_says_nothing_is_refused_and_nobody_is_asked(
    stub: Stub, outbox: list[EmailMessage]
) -> None:
    with pytest.raises(Refused, match="does not say what it is"):
        shipped()
    assert shipped(fail_silently=True) == 0
    assert (outbox, stub.asked) == ([], [])


def test_or_it_is_a_notification_of_its_content(stub: Stub, outbox: list[EmailMessage]) -> None:
    settings.SENDLEDGER_UNMARKED = "notification"
    assert (shipped(), shipped()) == (1, 1)
    first, second = stub.bodies("permits")
    assert first == second
    assert (first["kind"], first["to"], len(first["event_id"])) == (
        "notification",
        "pat@example.com",
        64,
    )


def test_a_duplicate_is_not_counted_and_any_other_no_is_raised(
    stub: Stub, outbox: list[EmailMessage]
) -> None:
    stub.then("permits", no(409, "already_sent"), no(409, "paused"), no(409, "paused"))
    with adapter.mail_is(SHIPPED):
        assert shipped() == 0
        with pytest.raises(Denied):
            shipped()
        assert shipped(fail_silently=True) == 0
    assert outbox == []


def test_a_refusal_of_the_server_is_reported_as_such(stub: Stub) -> None:
    settings.SENDLEDGER_BACKEND = f"{__name__}.RefusingBackend"
    with adapter.mail_is(SHIPPED):
        with pytest.raises(smtplib.SMTPRecipientsRefused):
            shipped()
        assert shipped(fail_silently=True) == 0
    assert [body["outcome"] for body in stub.bodies("outcome")] == ["rejected", "rejected"]


def test_a_mail_to_somebody_else_than_the_permit_is_not_sent(
    stub: Stub, outbox: list[EmailMessage]
) -> None:
    with adapter.mail_is(SHIPPED), pytest.raises(Refused):
        send_mail("Your order", "On its way.", None, ["kim@example.com"])
    assert outbox == []
    assert [body["outcome"] for body in stub.bodies("outcome")] == ["rejected"]
