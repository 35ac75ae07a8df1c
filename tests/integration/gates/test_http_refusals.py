"""What the HTTP gate lets pass, and what it refuses before anything is asked or handed over."""

import asyncio
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.gates.error import GateError
from api.gates.gate_file import Tls
from api.process.gate_serving import run_http_gate
from tests.support.http_gate import http_gate_file, running_http_gate
from tests.support.mail_provider import KEY, MailProvider
from tests.support.service import Client, Service

_TO = "pat@example.com"
_HEADERS = {"X-Postmark-Server-Token": KEY, "Authorization": f"Bearer {KEY}"}
_MAIL = {"from": "a@acme.example", "to": _TO, "subject": "s", "text": "t"}
_PERSON: dict[str, Any] = {"to": [{"email": _TO}]}
_GRID: dict[str, Any] = {"personalizations": [_PERSON], "from": {"email": "a@acme.example"}}
_FORM = {"from": "a@acme.example", "to": _TO, "subject": "s", "text": "t"}
_MARK = {"From": "a@acme.example", "To": _TO, "Subject": "s", "TextBody": "t"}


def _nested(deep: int) -> Any:
    value: Any = "x"
    for _ in range(deep):
        value = {"in": value}
    return value


@pytest.fixture
def program(http_gate: str) -> Iterator[httpx.Client]:
    """A program that calls the gate."""
    with httpx.Client(base_url=http_gate, headers=_HEADERS, timeout=300) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/resend/emails/49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"),
        ("GET", "/resend/domains?limit=3"),
        ("POST", "/resend/templates"),
        ("POST", "/resend/emails/49a3999c/cancel"),
        ("GET", "/postmark/messages/outbound?count=1&offset=0"),
        ("POST", "/postmark/templates/"),
        ("PUT", "/postmark/bounces/7/activate"),
        ("GET", "/sendgrid/v3/templates"),
        ("DELETE", "/sendgrid/v3/suppression/bounces/pat@example.com"),
        ("GET", "/mailgun/v3/acme.example/events"),
        ("DELETE", "/mailgun/v3/acme.example/bounces/pat%40example.com"),
    ],
)
def test_what_cannot_send_passes(
    program: httpx.Client, provider: MailProvider, method: str, path: str
) -> None:
    auth = ("api", KEY) if "mailgun" in path else None
    answer = program.request(method, path, auth=auth)
    assert answer.json() == {"id": "thing", "object": "thing"}
    below = "/" + path.split("/", 2)[2]
    assert provider.calls == [f"{method} {below}"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/resend/broadcasts"),
        ("POST", "/resend/broadcasts/7/send"),
        ("POST", "/resend/events/send"),
        ("POST", "/resend/automations"),
        ("POST", "/resend/contacts"),
        ("POST", "/resend/emails/"),
        ("POST", "/resend//emails"),
        ("POST", "/resend/templates/..;/emails"),
        ("POST", "/resend/templates/%2e%2e/emails"),
        ("POST", "/resend/Emails"),
        ("PUT", "/resend/emails"),
        ("POST", "/postmark/email/bulk"),
        ("POST", "/postmark/broadcasts"),
        ("PUT", "/postmark/messages/inbound/7/retry"),
        ("POST", "/sendgrid/v3/mail/send/"),
        ("POST", "/sendgrid/v3/mail/batch"),
        ("POST", "/sendgrid/v3/marketing/singlesends"),
        ("POST", "/sendgrid/v3/marketing/test/send_email"),
        ("GET", "/sendgrid/api/mail.send.json?to=pat@example.com"),
        ("POST", "/mailgun/v3/acme.example/messages.mime"),
        ("POST", "/mailgun/v3/acme.example/messages/"),
        ("POST", "/mailgun/v3/domains/acme.example/messages/abc"),
        ("POST", "/mailgun/v3/lists/all@acme.example/members"),
    ],
)
def test_what_might_send_does_not(
    program: httpx.Client, provider: MailProvider, method: str, path: str
) -> None:
    auth = ("api", KEY) if "mailgun" in path else None
    answer = program.request(method, path, auth=auth)
    assert answer.status_code == 403
    assert f"the gate does not pass {method} on this path" in answer.text
    assert provider.calls == []
    assert provider.mails == []


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        ("/resend/emails", _MAIL | {"BCC": "x@example.com", "bcc": _TO}, "has bcc twice"),
        ("/resend/emails", _MAIL | {"also_to": "x@example.com"}, "know the field 'also_to'"),
        ("/resend/emails", _MAIL | {"scheduled_at": "in 1 hour"}, "keeps until later"),
        ("/resend/emails", _MAIL | {"headers": {"Bcc": "x@example.com"}}, "names recipients"),
        ("/resend/emails", _MAIL | {"headers": {"X-A": "a\r\nBcc: x@b.c"}}, "a line break"),
        ("/resend/emails", _MAIL | {"subject": "a\nBcc: x@b.c"}, "a line break"),
        ("/resend/emails", _MAIL | {"to": []}, "names no recipient"),
        ("/resend/emails", _MAIL | {"to": "a@b.example;c@d.example"}, "is no address"),
        ("/resend/emails", _MAIL | {"to": "a@b.example c@d.example"}, "is no address"),
        ("/resend/emails", _MAIL | {"to": {"a": 1}}, "recipients are texts"),
        ("/resend/emails", _MAIL | {"headers": {"X-Ledger-Kind": "letter"}}, "X-Ledger-Kind must"),
        ("/resend/emails", _MAIL | {"headers": {"X-Ledger-Permit": "1"}}, "been through a gate"),
        ("/resend/emails", _MAIL | {"headers": {"x-smtpapi": "{}"}}, "a command to the provider"),
        ("/resend/emails", _MAIL | {"text": "\ud800"}, "half a character"),
        ("/resend/emails", _MAIL | {"template": _nested(70)}, "nested too deeply"),
        ("/resend/emails", [_MAIL], "is an object"),
        ("/resend/emails/batch", [], "is a list of mails"),
        ("/resend/emails/batch", [_MAIL] * 101, "has 100 mails at most"),
        ("/resend/emails?to=x@example.com", _MAIL, "has no query"),
        ("/postmark/email", _MARK | {"bcc": "x@example.com", "Bcc": _TO}, "has Bcc twice"),
        ("/postmark/email", _MARK | {"TemplateId": 1}, "know the field 'TemplateId'"),
        ("/postmark/email/batch", _MARK, "is a list of mails"),
        ("/sendgrid/v3/mail/send", _GRID | {"send_at": 1}, "keeps until later"),
        ("/sendgrid/v3/mail/send", _GRID | {"batch_id": "b"}, "keeps until later"),
        (
            "/sendgrid/v3/mail/send",
            _GRID | {"personalizations": [_PERSON | {"send_at": 1}]},
            "keeps until later",
        ),
        (
            "/sendgrid/v3/mail/send",
            _GRID | {"mail_settings": {"bcc": {"enable": True, "email": "x@b.c"}}},
            "names a recipient",
        ),
        (
            "/sendgrid/v3/mail/send",
            _GRID | {"mail_settings": {"sandbox_mode": {"enable": True}}},
            "sends nothing",
        ),
        ("/sendgrid/v3/mail/send", _GRID | {"personalizations": None}, "is a list of mails"),
        ("/mailgun/v3/a.example/messages", _FORM | {"o:deliverytime": "x"}, "keeps until later"),
        ("/mailgun/v3/a.example/messages", _FORM | {"o:testmode": "yes"}, "sends nothing"),
        ("/mailgun/v3/a.example/messages", _FORM | {"h:Bcc": "x@b.c"}, "names recipients"),
        ("/mailgun/v3/a.example/messages", _FORM | {"To": "x@b.c"}, "know the field 'To'"),
        ("/mailgun/v3/a.example/messages", _FORM | {"message": "MIME"}, "know the field 'message'"),
        (
            "/mailgun/v3/a.example/messages",
            _FORM | {"recipient-variables": "{}", "bcc": "x@b.example"},
            "each recipient gets a mail",
        ),
    ],
)
def test_a_call_that_hides_something_is_refused(
    program: httpx.Client, provider: MailProvider, path: str, body: Any, why: str
) -> None:
    if "mailgun" in path:
        answer = program.post(path, data=body, auth=("api", KEY))
    else:
        content = json.dumps(body)
        answer = program.post(path, content=content, headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 429
    assert why in answer.text
    assert provider.mails == []


def test_a_field_that_the_file_allows_goes_on(
    service: Service, key: Client, provider: MailProvider, name: str
) -> None:
    fields = {"resend": ["new_field"]}
    file = http_gate_file(str(service.http.base_url), key.key, provider, fields=fields)
    with running_http_gate(file) as gate:
        mail = _MAIL | {"to": f"pat-{name}@example.com", "new_field": {"a": 1}}
        assert httpx.post(f"{gate}/resend/emails", json=mail, headers=_HEADERS).is_success
    assert provider.mails[0].json["new_field"] == {"a": 1}


def test_bodies_are_bounded_and_plain(
    service: Service, key: Client, provider: MailProvider, name: str
) -> None:
    bounds = {"body_bytes": 2000, "recipients": 2, "idle_seconds": 0.5}
    file = http_gate_file(str(service.http.base_url), key.key, provider, bounds=bounds)
    many = _MAIL | {"to": [f"r{number}-{name}@example.com" for number in range(3)]}
    large = _MAIL | {"text": "x" * 2000}
    with running_http_gate(file) as gate:
        url = f"{gate}/resend/emails"
        heard = [
            httpx.post(url, headers=_HEADERS, json=large),
            httpx.post(url, headers=_HEADERS, content=iter([b"x" * 1500] * 2)),
            httpx.post(url, headers=_HEADERS, json=many),
            httpx.post(url, headers=_HEADERS | {"Content-Encoding": "gzip"}, json=_MAIL),
            httpx.post(url, headers=_HEADERS | {"Content-Type": "text/plain"}, content="{}"),
            httpx.post(url, headers=_HEADERS, content="{"),
        ]
        with socket.create_connection(("127.0.0.1", int(gate.rsplit(":", 1)[1]))) as slow:
            slow.sendall(b"POST /resend/emails HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
            slow.settimeout(300)
            assert slow.recv(100).startswith(b"HTTP/1.1 408")
    assert [one.status_code for one in heard] == [413, 413, 413, 415, 415, 400]
    assert provider.mails == []


def test_a_call_without_a_key_or_a_provider_is_told_so(
    http_gate: str, program: httpx.Client
) -> None:
    assert httpx.post(f"{http_gate}/resend/emails", json=_MAIL).status_code == 401
    two = [("Authorization", "Bearer a"), ("Authorization", f"Bearer {KEY}")]
    assert httpx.post(f"{http_gate}/resend/emails", json=_MAIL, headers=two).status_code == 401
    assert program.post("/mailgun/v3/a.example/messages", data=_FORM).status_code == 401


def test_programs_without_a_login_come_from_where_the_file_says(
    service: Service, key: Client, provider: MailProvider, name: str
) -> None:
    url = str(service.http.base_url)
    mail = _MAIL | {"to": f"pat-{name}@example.com"}
    heard = []
    for networks in (["10.0.0.0/8"], ["127.0.0.0/8"]):
        anonymous = {"key": key.key, "networks": networks}
        file = http_gate_file(url, key.key, provider, login=[], anonymous=anonymous)
        with running_http_gate(file) as gate:
            heard.append(httpx.post(f"{gate}/resend/emails", json=mail, headers=_HEADERS))
            assert httpx.get(f"{gate}/elsewhere").status_code == 404
    assert [one.status_code for one in heard] == [401, 200]


def test_keys_do_not_travel_in_clear_between_machines(key: Client, provider: MailProvider) -> None:
    file = http_gate_file("http://127.0.0.1:1", key.key, provider)
    with pytest.raises(GateError, match="travel in clear"):
        asyncio.run(run_http_gate(file, ("0.0.0.0", 0), print))


def test_keys_travel_by_tls_where_the_file_has_a_certificate(
    service: Service, key: Client, provider: MailProvider, certificate: Path, name: str
) -> None:
    tls = {"certificate": str(certificate)}
    file = http_gate_file(str(service.http.base_url), key.key, provider, tls=tls)
    context = ssl.create_default_context(cafile=str(certificate))
    with running_http_gate(file) as gate:
        url = gate.replace("http://127.0.0.1", "https://localhost") + "/resend/emails"
        mail = _MAIL | {"to": f"pat-{name}@example.com"}
        assert httpx.post(url, json=mail, headers=_HEADERS, verify=context).is_success
    wrong = file.model_copy(update={"tls": Tls(certificate=Path("/none.pem"))})
    with pytest.raises(GateError, match="cannot be used"):
        asyncio.run(run_http_gate(wrong, ("127.0.0.1", 0), print))


def test_a_certificate_of_the_provider_that_does_not_fit_is_no_provider(
    service: Service, key: Client, provider: MailProvider, name: str
) -> None:
    upstream = {"url": {"resend": provider.url.replace("http:", "https:")}}
    file = http_gate_file(str(service.http.base_url), key.key, provider, upstream=upstream)
    with running_http_gate(file) as gate:
        mail = _MAIL | {"to": f"pat-{name}@example.com"}
        answer = httpx.post(f"{gate}/resend/emails", json=mail, headers=_HEADERS)
    assert (answer.status_code, answer.json()["name"]) == (503, "unavailable")
    assert provider.mails == []
