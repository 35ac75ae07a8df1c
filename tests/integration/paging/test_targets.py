"""One message to one real receiver through Apprise: what arrives, what is said when it does not."""

import asyncio
import inspect

import pytest
from apprise.manager_plugins import NotificationManager
from apprise.plugins import opsgenie, pagerduty

from api.paging.message import Message
from api.paging.targets import DEDUPE_FIELDS, PagingError, Sent, targets_of
from tests.support.logs import everything_logged
from tests.support.receivers import Webhook, free_port, mailbox, text_of, webhook

ALERT = Message(
    title="breaker_opened: customer cus_1",
    body="the breaker opened & nobody *knows* <why>\ndedupe key: breaker_opened:cus_1:5",
    dedupe_key="breaker_opened:cus_1:5",
    reason="alert",
)
PAGERDUTY = f"pagerduty://{'a' * 32}@{'b' * 20}"
OPSGENIE = "opsgenie://12345678-1234-1234-1234-123456789012"
SECONDS = 10.0


def send(url: str, message: Message = ALERT, timeout: float = SECONDS) -> Sent:
    """What a target says to one message."""
    (target,) = targets_of([url])
    return asyncio.run(target.send(message, timeout))


def only_body(receiver: Webhook) -> dict[str, object]:
    """The one body that arrived."""
    (body,) = receiver.bodies
    return body


def test_a_webhook_gets_the_words_and_the_key() -> None:
    with webhook() as receiver:
        assert send(receiver.url) == Sent(True, "")
        body = only_body(receiver)
    assert body["title"] == ALERT.title
    assert body["message"] == ALERT.body
    assert (body["dedupe_key"], body["reason"]) == ("breaker_opened:cus_1:5", "alert")
    assert body["type"] == "failure"


def test_what_a_url_sets_itself_stays() -> None:
    with webhook() as receiver:
        send(f"{receiver.url}?:dedupe_key=mine&:team=ops")
        body = only_body(receiver)
    assert (body["dedupe_key"], body["team"], body["reason"]) == ("mine", "ops", "alert")


def test_a_mail_has_the_key_in_a_header_and_in_its_text() -> None:
    with mailbox() as receiver:
        assert send(receiver.url) == Sent(True, "")
        (mail,) = receiver.mails
    assert mail["Subject"] == ALERT.title
    assert mail["Ledger-Dedupe-Key"] == "breaker_opened:cus_1:5"
    assert text_of(mail).strip() == ALERT.body


def test_pagerduty_gets_its_own_dedupe_field(monkeypatch: pytest.MonkeyPatch) -> None:
    with webhook() as receiver:
        local = f"http://127.0.0.1:{receiver.port}/"
        monkeypatch.setitem(pagerduty.PAGERDUTY_API_LOOKUP, pagerduty.PagerDutyRegion.US, local)
        assert send(PAGERDUTY) == Sent(True, "")
        body = only_body(receiver)
    assert body["dedup_key"] == "breaker_opened:cus_1:5"
    assert body["event_action"] == "trigger"
    payload = body["payload"]
    assert isinstance(payload, dict)
    assert payload["severity"] == "critical"
    assert ALERT.body.splitlines()[0] in payload["summary"]


@pytest.mark.parametrize("reason", ["alert", "drill"])
def test_opsgenie_gets_a_new_alert_with_its_alias(
    monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    message = Message(ALERT.title, ALERT.body, ALERT.dedupe_key, reason)
    with webhook() as receiver:
        local = f"http://127.0.0.1:{receiver.port}/v2/alerts"
        monkeypatch.setitem(opsgenie.OPSGENIE_API_LOOKUP, opsgenie.OpsgenieRegion.US, local)
        assert send(OPSGENIE, message) == Sent(True, "")
        body = only_body(receiver)
    assert body["alias"] == "breaker_opened:cus_1:5"
    assert body["message"] == ALERT.title


@pytest.mark.parametrize(("scheme", "field"), sorted(DEDUPE_FIELDS.items()))
def test_every_dedupe_field_is_one_that_apprise_knows(scheme: str, field: str) -> None:
    targets_of(["json://127.0.0.1"])
    service = NotificationManager()[scheme]  # type: ignore[no-untyped-call]
    # Services take anything by keyword, so a wrong name would be lost without an error.
    assert field in inspect.signature(service.__init__).parameters


@pytest.mark.parametrize(
    ("status", "said"),
    [(500, "error=500"), (401, "error=401"), (302, "error=302"), (404, "error=404")],
)
def test_an_http_error_is_no_delivery(status: int, said: str) -> None:
    with webhook() as receiver:
        receiver.statuses = [status]
        sent = send(receiver.url)
    assert not sent.ok
    assert said in sent.detail


def test_an_optional_service_that_failed_has_not_delivered() -> None:
    sent = send(f"json://127.0.0.1:{free_port()}/hook?optional=yes")
    assert not sent.ok
    assert "Connection error" in sent.detail


def test_a_refused_mail_is_no_delivery() -> None:
    with mailbox() as receiver:
        receiver.refusals = 1
        sent = send(receiver.url)
    assert sent == Sent(False, 'Sending email to "***" failed.')


def test_a_receiver_that_is_silent_is_given_up_in_time() -> None:
    with webhook() as receiver:
        receiver.answering.clear()
        assert send(receiver.url, timeout=0.2) == Sent(False, "no answer within 0.2 s")


def test_nothing_of_a_url_is_said_or_logged(capfd: pytest.CaptureFixture[str]) -> None:
    secrets = ["bob", "hunter2", "T0K3N", "X-Token-Value", "oncall@example.com", "127.0.0.1"]
    with webhook() as receiver, mailbox() as box, everything_logged() as log:
        receiver.statuses = [200, 403]
        box.refusals = 1
        place = f"bob:hunter2@127.0.0.1:{receiver.port}/T0K3N"
        details = [send(f"json://{place}?+X=X-Token-Value").detail for _ in range(2)]
        details += [send(box.url).detail for _ in range(2)]
        details.append(send(f"json://bob:hunter2@127.0.0.1:{free_port()}/T0K3N").detail)
        assert len(receiver.bodies) == 2
        assert len(box.mails) == 1
    assert sum(bool(detail) for detail in details) == 3
    (target,) = targets_of([f"json://{place}"])
    apprise_says = f"bob failed at json://{place} for oncall@example.com: hunter2"
    assert target.scrub(apprise_says) == "*** failed at *** for ***: ***"
    written = capfd.readouterr()
    for text in (" ".join(details), log.getvalue(), written.out + written.err):
        assert [secret for secret in secrets if secret in text] == []


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("hunter2", "url#2"),
        ("jsno://bob:hunter2@example.com", "jsno#2"),
        ("pagerduty://hunter2", "pagerduty#2"),
        ("hunter2%40://x", "url#2"),
        ("json://[::hunter2", "json#2"),
    ],
)
def test_a_url_that_cannot_be_used_is_named_by_its_place(url: str, name: str) -> None:
    with pytest.raises(PagingError) as caught:
        targets_of(["json://127.0.0.1/hook", url])
    assert str(caught.value) == f"LEDGER_ALERT_URLS: Apprise cannot use URL 2 ({name})"


def test_targets_are_told_apart_by_everything_in_their_url() -> None:
    urls = ["json://h/a", "json://h/b", "json://u:p@h/a", "json://u:q@h/a", "json://h/a"]
    targets = targets_of(urls)
    assert [target.name for target in targets] == ["json#1", "json#2", "json#3", "json#4"]
    prints = {target.fingerprint for target in targets}
    assert len(prints) == 4
    assert prints == {target.fingerprint for target in targets_of(urls)}
    assert targets_of([]) == []
