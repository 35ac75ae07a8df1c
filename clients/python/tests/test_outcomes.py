"""What a block reports when it ends: what was told, else what the error that left it proves."""

from __future__ import annotations

import smtplib

import httpx
import pytest
from clients.python.tests.stub import GRANT, Answer, Face, Stub

from sendledger import Delivered, InDoubt, OutcomeGiven, Permit, Refused, kinds

ASK = kinds.reply(thread_id="T1", in_reply_to="q1@example.com", cc=["boss@example.com"])
REFUSED = {"pat@example.com": (550, b"no such user")}


@pytest.mark.parametrize(
    ("error", "outcome", "detail"),
    [
        (Refused("not taken"), "rejected", "not taken"),
        (smtplib.SMTPRecipientsRefused(REFUSED), "rejected", "SMTP 550 for every recipient"),
        (smtplib.SMTPSenderRefused(553, b"no", "me@example.com"), "rejected", "SMTP 553"),
        (smtplib.SMTPAuthenticationError(535, b"no"), "rejected", "SMTP 535"),
        (smtplib.SMTPConnectError(421, b"busy"), "rejected", "SMTP 421"),
        (smtplib.SMTPDataError(554, b"spam"), "rejected", "SMTP 554 after the data"),
        (smtplib.SMTPDataError(354, b"?"), "unknown", "SMTPDataError"),
        (smtplib.SMTPServerDisconnected("gone"), "unknown", "SMTPServerDisconnected"),
        (InDoubt("no answer"), "unknown", "InDoubt"),
        (TimeoutError(), "unknown", "TimeoutError"),
        (ConnectionRefusedError(), "unknown", "ConnectionRefusedError"),
        (KeyError("pat@example.com"), "unknown", "KeyError"),
        (KeyboardInterrupt(), "unknown", "KeyboardInterrupt"),
    ],
)
@pytest.mark.parametrize("how", ["block", "send_once"])
def test_an_error_that_leaves_is_reported_and_raised(
    face: Face, stub: Stub, how: str, error: BaseException, outcome: str, detail: str
) -> None:
    def fails(permit: Permit) -> None:
        raise error

    with pytest.raises(type(error)):
        (face.block if how == "block" else face.send_once)(ASK, fails)
    assert stub.bodies("outcome") == [{"outcome": outcome, "detail": detail}]


@pytest.mark.parametrize(
    ("first", "outcome"),
    [
        (smtplib.SMTPServerDisconnected("gone"), "unknown"),
        (TimeoutError(), "unknown"),
        (InDoubt("no answer"), "unknown"),
        (smtplib.SMTPConnectError(421, b"busy"), "rejected"),
        (KeyError("template"), "rejected"),
    ],
)
def test_a_refusal_says_nothing_of_an_earlier_try_that_was_in_doubt(
    face: Face, stub: Stub, first: Exception, outcome: str
) -> None:
    def tries_twice(permit: Permit) -> None:
        try:
            raise first
        except type(first):
            raise smtplib.SMTPConnectError(421, b"busy")  # noqa: B904

    with pytest.raises(smtplib.SMTPConnectError):
        face.block(ASK, tries_twice)
    assert [body["outcome"] for body in stub.bodies("outcome")] == [outcome]


def test_what_was_told_stands_whatever_happens_after(face: Face, stub: Stub) -> None:
    def sends_and_fails(permit: Permit) -> None:
        permit.sent(Delivered("re_1", "resend", "<own@example.com>"))
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        face.block(ASK, sends_and_fails)
    assert stub.bodies("outcome") == [
        {
            "outcome": "sent",
            "provider": "resend",
            "provider_message_id": "re_1",
            "message_id": "<own@example.com>",
        }
    ]


def test_a_block_that_says_nothing_is_in_doubt_and_send_once_means_sent(
    face: Face, stub: Stub
) -> None:
    face.block(ASK, lambda permit: None)
    face.send_once(ASK, lambda permit: None)
    assert [body["outcome"] for body in stub.bodies("outcome")] == ["unknown", "sent"]


def test_send_once_takes_the_word_of_the_function_before_its_return(face: Face, stub: Stub) -> None:
    result = face.send_once(ASK, lambda permit: permit.rejected("nothing to say"))
    assert (result.state, result.duplicate) == ("rejected", False)
    assert stub.bodies("outcome") == [{"outcome": "rejected", "detail": "nothing to say"}]


def test_only_sent_replaces_unknown_and_the_first_word_stands(face: Face, stub: Stub) -> None:
    def says(permit: Permit) -> None:
        permit.unknown()
        permit.sent("re_1")
        permit.sent("re_2")
        with pytest.raises(OutcomeGiven):
            permit.rejected()

    face.block(ASK, says)
    assert stub.bodies("outcome") == [{"outcome": "sent", "provider_message_id": "re_1"}]


def test_a_permit_says_what_its_mail_carries(face: Face, stub: Stub) -> None:
    seen: list[Permit] = []
    face.block(ASK, seen.append)
    (permit,) = seen
    assert permit.headers == {
        "Message-ID": "<p.mac@ledger.example>",
        "X-Ledger-Send": "p-token-mac",
        "Auto-Submitted": "auto-generated",
        "In-Reply-To": "<q1@example.com>",
        "References": "<q1@example.com>",
    }
    assert (permit.to, permit.cc) == ("pat@example.com", ("boss@example.com",))
    assert permit.provider_idempotency_key == "k" * 48
    assert permit.in_time
    stub.clock.now += 601
    assert not permit.in_time


def test_a_poller_goes_on_after_a_mail_that_failed(face: Face, stub: Stub) -> None:
    def mails(permit: Permit) -> None:
        with permit:
            raise Refused("no such mailbox")

    stub.then("claim", *[_claimed("inv_1"), _claimed("inv_1")])
    assert face.due(mails, limit=1) == 1
    assert stub.bodies("outcome") == [{"outcome": "rejected", "detail": "no such mailbox"}]
    # It is due again at once, is claimed again, and is left for a later run.
    assert (len(stub.calls("claim")), len(stub.calls("redeem"))) == (2, 1)


def test_who_leaves_the_loop_lets_what_was_not_used_lapse(face: Face, stub: Stub) -> None:
    class Enough(Exception):
        pass

    def stops(permit: Permit) -> None:
        permit.sent()
        raise Enough

    stub.then("claim", _claimed("inv_1", "inv_2", "inv_3"))
    with pytest.raises(Enough):
        face.due(stops)
    assert [body["outcome"] for body in stub.bodies("outcome")] == ["sent"]
    assert len(stub.calls("redeem")) == 1


def _claimed(*invoices: str) -> Answer:
    permits = [
        {**GRANT, "kind": "reminder", "items": [{"invoice_id": i, "cycle": 1, "stage": "day-3"}]}
        for i in invoices
    ]
    return lambda request: httpx.Response(200, json={"permits": permits, "withheld": []})


def test_a_poller_is_warned_of_customers_who_get_no_mail_now(
    face: Face, stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    withheld = [{"code": "paused"}, {"code": "paused"}]
    stub.then(
        "claim", lambda request: httpx.Response(200, json={"permits": [], "withheld": withheld})
    )
    face.due(lambda permit: None)
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warned == ["2 customers are due and get no mail now: paused"]


def test_an_outcome_that_nobody_told_is_a_warning(
    face: Face, stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    face.block(ASK, lambda permit: None)
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warned) == 1
    assert "unknown (the sender did not say), reported" in warned[0]
