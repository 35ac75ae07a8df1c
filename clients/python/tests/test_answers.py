"""What the client does with every answer and with none: only a yes lets a mail out."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from clients.python.tests.stub import GRANT, PERMIT_ID, Face, Stub, lost, no, plain

from sendledger import AsyncLedger, Denied, Ledger, LedgerError, Permit, Unavailable, kinds

ASK = kinds.notification(event_type="shipped", event_id="9", customer_id="C1")


class Mailer:
    """Counts the mails that it is given."""

    def __init__(self) -> None:
        self.mails: list[str] = []

    def __call__(self, permit: Permit) -> str:
        self.mails.append(permit.permit_id)
        return f"re_{len(self.mails)}"


def test_a_send_asks_redeems_and_reports(face: Face, stub: Stub) -> None:
    mailer = Mailer()
    result = face.send_once(ASK, mailer)
    assert (result.permit_id, result.state, result.duplicate) == (PERMIT_ID, "sent", False)
    assert (result.provider_message_id, result.value) == ("re_1", "re_1")
    assert [r.url.path.rsplit("/", 1)[-1] for r in stub.asked] == ["permits", "redeem", "outcome"]
    assert stub.bodies("permits") == [
        {"kind": "notification", "event_type": "shipped", "event_id": "9", "customer_id": "C1"}
    ]
    assert stub.bodies("outcome") == [{"outcome": "sent", "provider_message_id": "re_1"}]
    assert {r.headers["authorization"] for r in stub.asked} == {"Bearer slk_test"}


def test_a_lost_answer_is_asked_for_with_the_same_key_and_the_same_attempt(
    face: Face, stub: Stub
) -> None:
    mailer = Mailer()
    stub.then("permits", lost, lost, plain(200, {"Idempotent-Replayed": "true"}, json=GRANT))
    stub.then("redeem", lost, no(503, "unavailable", {"Retry-After": "2"}))
    stub.then("outcome", lost)
    face.send_once(ASK, mailer)
    assert mailer.mails == [PERMIT_ID]
    assert len({r.headers["idempotency-key"] for r in stub.calls("permits")}) == 1
    assert len(stub.calls("redeem")) == 3
    assert len({body["attempt"] for body in stub.bodies("redeem")}) == 1
    assert [body["outcome"] for body in stub.bodies("outcome")] == ["sent", "sent"]


def test_each_send_has_a_key_and_an_attempt_of_its_own(face: Face, stub: Stub) -> None:
    for _ in range(2):
        face.send_once(ASK, Mailer())
    assert len({r.headers["idempotency-key"] for r in stub.calls("permits")}) == 2
    assert len({body["attempt"] for body in stub.bodies("redeem")}) == 2


@pytest.mark.parametrize(
    "answer",
    [
        plain(200, json=GRANT),
        plain(202, json=GRANT),
        plain(201, json={"state": "granted"}),
        plain(201, text="yes"),
        plain(204),
        plain(302, {"Location": "http://elsewhere.test/v1/permits"}),
        plain(404, text="no such page"),
        no(500, "internal_error"),
    ],
)
def test_whatever_is_no_yes_of_the_ledger_lets_no_mail_out(
    face: Face, stub: Stub, answer: Any
) -> None:
    mailer = Mailer()
    stub.then("permits", answer)
    with pytest.raises(Unavailable):
        face.send_once(ASK, mailer)
    assert mailer.mails == []
    assert len(stub.asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        plain(201, json={**GRANT, "state": "redeemed"}),
        plain(200, json=GRANT),
        plain(200, json={**GRANT, "state": "redeemed", "permit_id": "another"}),
        plain(200, text="yes"),
    ],
)
def test_a_redeem_that_says_anything_else_is_given_back(
    face: Face, stub: Stub, answer: Any
) -> None:
    mailer = Mailer()
    stub.then("redeem", answer)
    with pytest.raises(Unavailable):
        face.send_once(ASK, mailer)
    assert mailer.mails == []
    assert [body["outcome"] for body in stub.bodies("outcome")] == ["rejected"]


def test_without_an_answer_to_ask_nothing_is_sent_and_the_wait_is_bounded_and_told(
    face: Face, stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    mailer = Mailer()
    stub.always("permits", lost)
    with pytest.raises(Unavailable, match="ReadError"):
        face.send_once(ASK, mailer)
    told = "the ledger did not answer the ask (ReadError); asking again for up to 30 seconds"
    assert [r.getMessage() for r in caplog.records if r.levelname == "WARNING"] == [told]
    assert mailer.mails == []
    assert 8 <= len(stub.asked) <= 40
    assert sum(stub.clock.slept) <= 30.0
    assert stub.clock.slept[0] < stub.clock.slept[3] < stub.clock.slept[6]


def test_without_an_answer_to_redeem_nothing_is_sent_and_the_permit_is_given_back(
    face: Face, stub: Stub
) -> None:
    mailer = Mailer()
    stub.always("redeem", lost)
    with pytest.raises(Unavailable):
        face.send_once(ASK, mailer)
    assert mailer.mails == []
    assert stub.bodies("outcome") == [{"outcome": "rejected", "detail": "no answer to redeem"}]


def test_503_is_asked_again_after_its_time_and_says_what_is_known(face: Face, stub: Stub) -> None:
    stub.always("permits", no(503, "unavailable", {"Retry-After": "7"}, committed="unknown"))
    with pytest.raises(Unavailable) as caught:
        face.send_once(ASK, Mailer())
    assert caught.value.committed == "unknown"
    assert all(7.0 <= slept <= 7.1 for slept in stub.clock.slept)
    assert len(stub.asked) == 5


def test_429_of_the_key_waits_as_told_and_429_of_a_cap_is_a_denial(face: Face, stub: Stub) -> None:
    mailer = Mailer()
    stub.then("permits", no(429, "rate_limited", {"Retry-After": "3"}))
    face.send_once(ASK, mailer)
    assert stub.clock.slept == [pytest.approx(3.05)]
    stub.then("permits", no(429, "loop_guard", {"Retry-After": "900"}, retryable=True))
    with pytest.raises(Denied) as caught:
        face.send_once(ASK, mailer)
    assert (caught.value.code, caught.value.retry_after) == ("loop_guard", 900.0)
    assert len(mailer.mails) == 1
    assert len(stub.calls("permits")) == 3


def test_a_denial_says_what_to_do_next(face: Face, stub: Stub) -> None:
    stub.then(
        "permits",
        no(
            409,
            "on_hold",
            retryable=True,
            next_action="retry_at",
            next_step="Wait until the hold ends, or have a person lift it.",
            available_at="2026-12-03T08:00:00Z",
            decision_id="d1",
        ),
    )
    with pytest.raises(Denied, match="Wait until the hold ends") as caught:
        face.send_once(ASK, Mailer())
    no_ = caught.value
    assert (no_.status, no_.code, no_.next_action) == (409, "on_hold", "retry_at")
    assert no_.available_at is not None
    assert no_.available_at.isoformat() == "2026-12-03T08:00:00+00:00"
    assert (no_.retryable, no_.decision_id, no_.is_duplicate) == (True, "d1", False)
    assert len(stub.asked) == 1


def test_a_time_that_helps_only_a_human_is_not_one_to_ask_again_at(face: Face, stub: Stub) -> None:
    freed = "2026-12-03T08:00:00Z"
    stub.then("permits", no(429, "cap_reached", retryable=False, frees_at=freed))
    with pytest.raises(Denied) as caught:
        face.send_once(ASK, Mailer())
    no_ = caught.value
    assert no_.frees_at is not None
    assert no_.frees_at.isoformat() == "2026-12-03T08:00:00+00:00"
    assert (no_.available_at, no_.retryable) == (None, False)
    assert len(stub.asked) == 1


def test_a_redeem_that_may_have_been_a_yes_is_given_back(face: Face, stub: Stub) -> None:
    mailer = Mailer()
    stub.then("redeem", lost)
    stub.always("redeem", no(429, "rate_limited", {"Retry-After": "20"}))
    with pytest.raises(Denied):
        face.send_once(ASK, mailer)
    assert mailer.mails == []
    assert [body["outcome"] for body in stub.bodies("outcome")] == ["rejected"]


def test_a_permit_is_used_once(stub: Stub) -> None:
    options: Any = {"transport": stub.transport, "pace": stub.pace}
    with Ledger("http://ledger.test", "slk_test", **options) as ledger:
        granted = ledger.ask(ASK)
        with ledger.redeem(granted) as permit:
            permit.sent()
        with pytest.raises(LedgerError, match="used already"), ledger.redeem(granted):
            pass
        with pytest.raises(LedgerError, match="used already"):
            ledger.give_back(granted)
    assert [body["outcome"] for body in stub.bodies("outcome")] == ["sent"]


def test_a_sender_that_is_stopped_before_the_hand_over_gives_back(face: Face, stub: Stub) -> None:
    def stopped(request: httpx.Request) -> httpx.Response:
        raise KeyboardInterrupt

    mailer = Mailer()
    stub.then("redeem", stopped)
    with pytest.raises(KeyboardInterrupt):
        face.send_once(ASK, mailer)
    assert mailer.mails == []
    assert stub.bodies("outcome") == [
        {"outcome": "rejected", "detail": "stopped before the hand-over"}
    ]


def test_a_task_that_is_cancelled_reports_before_it_ends(stub: Stub) -> None:
    options: Any = {"transport": stub.transport, "pace": stub.pace}

    async def sends(ledger: AsyncLedger, begun: asyncio.Event) -> None:
        async with ledger.permit(ASK):
            begun.set()
            await asyncio.Event().wait()

    async def main() -> None:
        async with AsyncLedger("http://ledger.test", "slk_test", **options) as ledger:
            begun = asyncio.Event()
            task = asyncio.create_task(sends(ledger, begun))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert stub.bodies("outcome") == [{"outcome": "unknown", "detail": "CancelledError"}]


def test_a_denied_redeem_sends_nothing_and_reports_nothing(face: Face, stub: Stub) -> None:
    mailer = Mailer()
    stub.then("redeem", no(409, "revoked"))
    with pytest.raises(Denied):
        face.send_once(ASK, mailer)
    assert (mailer.mails, stub.calls("outcome")) == ([], [])


def test_a_redeem_that_came_after_send_by_is_given_back(face: Face, stub: Stub) -> None:
    def slowly(request: httpx.Request) -> httpx.Response:
        stub.clock.now += 601
        return httpx.Response(200, json={**GRANT, "state": "redeemed"})

    mailer = Mailer()
    stub.then("redeem", slowly)
    with pytest.raises(Unavailable, match="send_by"):
        face.send_once(ASK, mailer)
    assert mailer.mails == []
    assert [body["outcome"] for body in stub.bodies("outcome")] == ["rejected"]


def test_a_report_that_is_invalid_is_made_without_its_details(face: Face, stub: Stub) -> None:
    stub.then("outcome", no(422, "invalid_request"))
    face.send_once(ASK, Mailer())
    assert stub.bodies("outcome")[1] == {"outcome": "sent"}


@pytest.mark.parametrize("answer_id", ["x" * 256, "a\nb", " re_1", ""])
def test_an_id_that_no_ledger_takes_does_not_cost_the_report(
    face: Face, stub: Stub, answer_id: str
) -> None:
    face.send_once(ASK, lambda permit: answer_id)
    assert stub.bodies("outcome") == [{"outcome": "sent"}]


def test_a_report_that_fails_does_not_make_a_sent_mail_look_unsent(
    face: Face, stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    stub.always("outcome", lost)
    assert face.send_once(ASK, Mailer()).state == "sent"
    assert [r.levelname for r in caplog.records if "not reported" in r.message] == [
        "WARNING",
        "ERROR",
    ]
