"""Programs that change only their base URL, with the providers' own libraries."""

import pytest

from tests.support.http_gate import http_gate_file, running_http_gate
from tests.support.mail_provider import KEY, MailProvider
from tests.support.provider_sdks import SDKS, Letter
from tests.support.receivers import free_port
from tests.support.service import Client, Service

each_sdk = pytest.mark.parametrize("sdk", SDKS)


@each_sdk
def test_a_mail_goes_out_once_with_its_permit(
    http_gate: str, provider: MailProvider, service: Service, name: str, sdk: str
) -> None:
    letter = Letter(f"pat-{name}@example.com", f"Order {name}")
    said = SDKS[sdk](http_gate, letter)
    again = SDKS[sdk](http_gate, letter)
    (taken,) = provider.mails
    assert said.mail_id.strip("<>") == taken.message_id
    assert taken.recipients == [letter.to]
    assert 400 <= again.status < 429
    assert "already_sent: " in again.text
    assert "Do not send: this mail went out already." in again.text
    permit = service.get(f"/v1/permits/{taken.carried['X-Ledger-Permit']}").ok()
    assert (permit["state"], permit["kind"]) == ("sent", "notification")
    assert taken.carried["Message-ID"] == permit["message_id"]
    assert taken.carried["X-Ledger-Send"] == permit["send_token"]
    expected = permit["provider_idempotency_key"] if sdk == "resend" else None
    assert taken.headers.get("idempotency-key") == expected


@each_sdk
def test_what_the_mail_says_of_itself_is_asked_for_and_stripped(
    http_gate: str, provider: MailProvider, key: Client, name: str, sdk: str
) -> None:
    to = f"pat-{name}@example.com"
    key.put_invoice(name, customer_id=f"c-{name}", email=to, due_on="2026-11-27").ok()
    headers = {
        "X-Ledger-Kind": "reminder",
        "X-Ledger-Invoice": name,
        "Message-ID": "<own@acme.example>",
    }
    texts = ("The first run.\n", "The second run writes another text.\n")
    heard = [SDKS[sdk](http_gate, Letter(to, "Reminder", text, headers)) for text in texts]
    assert heard[0].mail_id
    assert "stage_not_due" in heard[1].text or "already_sent" in heard[1].text
    (taken,) = provider.mails
    own = sorted(name for name in taken.carried if name.lower().startswith("x-ledger"))
    assert own == ["X-Ledger-Permit", "X-Ledger-Send"]
    assert taken.carried["Message-ID"] == "<own@acme.example>"
    assert key.stages(name)["day-3"] == "sent"


@each_sdk
def test_an_error_of_the_provider_is_its_own(
    http_gate: str, provider: MailProvider, service: Service, name: str, sdk: str
) -> None:
    told = {
        "resend": {"statusCode": 422, "name": "validation_error", "message": "no such domain"},
        "postmark": {"ErrorCode": 300, "Message": "no such domain"},
        "sendgrid": {"errors": [{"message": "no such domain", "field": "from", "help": None}]},
        "mailgun": {"message": "no such domain"},
    }
    letter = Letter(f"pat-{name}@example.com", name)
    provider.answers.append((422, told[sdk]))
    said = SDKS[sdk](http_gate, letter)
    assert said.status == 422
    assert "no such domain" in said.text
    assert provider.mails == []
    # It was reported as rejected, so the send is free.
    assert SDKS[sdk](http_gate, letter).mail_id
    assert len(provider.mails) == 1


@each_sdk
def test_without_a_ledger_there_is_no_mail(
    key: Client, provider: MailProvider, name: str, sdk: str
) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    bounds = {"ledger_seconds": 0.2}
    file = http_gate_file(nobody, key.key, provider, bounds=bounds, root="postmark")
    with running_http_gate(file) as gate:
        said = SDKS[sdk](gate, Letter("pat@example.com", name))
    assert said.status in (503, 422 if sdk == "postmark" else 503)
    assert "the ledger gave no decision" in said.text
    assert provider.mails == []


@each_sdk
def test_the_key_of_the_provider_decides_who_asks_and_is_kept_nowhere(
    service: Service,
    key: Client,
    provider: MailProvider,
    name: str,
    sdk: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    file = http_gate_file(
        str(service.http.base_url),
        key.key,
        provider,
        login=[{"name": "other", "provider_key_sha256": "0" * 64, "key": key.key}],
        root="postmark",
    )
    letter = Letter(f"pat-{name}@example.com", name)
    with caplog.at_level("DEBUG", "ledger"), running_http_gate(file) as gate:
        said = SDKS[sdk](gate, letter)
    assert said.status == (422 if sdk == "postmark" else 401)
    assert provider.mails == []
    assert KEY not in caplog.text
    assert letter.to not in caplog.text
