"""Providers with an HTTP interface: what each is asked, and what its answers prove."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import botocore.session
import httpx
import pytest
from botocore.config import Config
from botocore.stub import ANY, Stubber
from clients.python.tests.stub import Clock, a_permit
from clients.python.tests.test_smtp import mail as message

from sendledger import Delivered, InDoubt, LedgerError, Refused
from sendledger.adapters.commune import CommuneMailer
from sendledger.adapters.http_mailer import AsyncHttpMailer, HttpMailer, Mail, Provider
from sendledger.adapters.mailgun import Mailgun
from sendledger.adapters.postmark import Postmark
from sendledger.adapters.resend import Resend
from sendledger.adapters.sendgrid import SendGrid
from sendledger.adapters.ses import SesMailer

MAIL = Mail("Acme <billing@acme.example>", "Your order", text="It is on its way.")
PERMIT = a_permit(asked={"cc": ["boss@example.com"]})
PROVIDERS: dict[str, tuple[Provider, dict[str, Any]]] = {
    "resend": (Resend("re_key"), {"json": {"id": "id_1"}}),
    "postmark": (Postmark("token"), {"json": {"ErrorCode": 0, "MessageID": "id_1"}}),
    "sendgrid": (SendGrid("SG.key"), {"headers": {"X-Message-Id": "id_1"}}),
    "mailgun": (Mailgun("key", "acme.example"), {"json": {"id": "id_1"}}),
}
Handler = Callable[[httpx.Request], httpx.Response]


def deliver(provider: Provider, handler: Handler, mail: Mail = MAIL) -> Delivered:
    """Hand a mail over by both mailers, which must agree; the answer of the first."""
    transport = httpx.MockTransport(handler)

    async def by_asyncio() -> Delivered:
        mailer = AsyncHttpMailer(provider, transport=transport)
        try:
            return await mailer.send(PERMIT, mail)
        finally:
            await mailer.close()

    mailer = HttpMailer(provider, transport=transport)
    told: list[Delivered | Exception] = []
    for one in (lambda: mailer.send(PERMIT, mail), lambda: asyncio.run(by_asyncio())):
        try:
            told.append(one())
        except (Refused, InDoubt) as error:
            told.append(error)
    mailer.close()
    first, second = told
    if isinstance(first, Exception):
        assert (type(first), str(first)) == (type(second), str(second))
        raise first
    assert first == second
    return first


def asked(name: str) -> tuple[httpx.Request, Any]:
    """The request that this provider gets, and its body."""
    provider, good = PROVIDERS[name]
    requests: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(202, **good)

    assert deliver(provider, handler) == Delivered("id_1", name)
    request = requests[0]
    is_json = request.headers["content-type"] == "application/json"
    return request, json.loads(request.content) if is_json else parse_qs(request.content.decode())


def test_resend_gets_the_idempotency_key_headers_and_the_token_as_a_tag() -> None:
    request, body = asked("resend")
    assert str(request.url) == "https://api.resend.com/emails"
    assert request.headers["authorization"] == "Bearer re_key"
    assert request.headers["idempotency-key"] == "k" * 48
    assert (body["to"], body["cc"]) == (["pat@example.com"], ["boss@example.com"])
    assert body["headers"] == PERMIT.headers
    assert body["tags"] == [{"name": "X-Ledger-Send", "value": "p-token-mac"}]
    assert "html" not in body


def test_postmark_keeps_the_message_id_and_gets_the_token_as_metadata() -> None:
    request, body = asked("postmark")
    assert str(request.url) == "https://api.postmarkapp.com/email"
    assert request.headers["x-postmark-server-token"] == "token"
    headers = {header["Name"]: header["Value"] for header in body["Headers"]}
    assert headers == {**PERMIT.headers, "X-PM-KeepID": "true"}
    assert body["Metadata"] == {"X-Ledger-Send": "p-token-mac"}
    assert (body["To"], body["Cc"]) == ("pat@example.com", "boss@example.com")


def test_sendgrid_gets_the_token_as_a_custom_argument() -> None:
    request, body = asked("sendgrid")
    assert str(request.url) == "https://api.sendgrid.com/v3/mail/send"
    assert body["from"] == {"email": "billing@acme.example", "name": "Acme"}
    assert body["personalizations"] == [
        {"to": [{"email": "pat@example.com"}], "cc": [{"email": "boss@example.com"}]}
    ]
    assert body["headers"] == PERMIT.headers
    assert body["custom_args"] == {"X-Ledger-Send": "p-token-mac"}


def test_mailgun_gets_headers_and_the_token_as_a_variable() -> None:
    request, body = asked("mailgun")
    assert str(request.url) == "https://api.mailgun.net/v3/acme.example/messages"
    assert request.headers["authorization"].startswith("Basic ")
    assert body["to"] == ["pat@example.com"]
    assert body["cc"] == ["boss@example.com"]
    assert body["h:Message-ID"] == ["<p.mac@ledger.example>"]
    assert body["h:Auto-Submitted"] == ["auto-generated"]
    assert body["v:X-Ledger-Send"] == ["p-token-mac"]


@pytest.mark.parametrize("name", sorted(PROVIDERS))
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, Refused),
        (401, Refused),
        (403, Refused),
        (422, Refused),
        (429, Refused),
        (408, InDoubt),
        (409, InDoubt),
        (302, InDoubt),
        (500, InDoubt),
        (502, InDoubt),
        (503, InDoubt),
    ],
)
def test_only_a_4xx_says_that_nothing_went_out(name: str, status: int, error: type) -> None:
    with pytest.raises(error, match=str(status)):
        deliver(PROVIDERS[name][0], lambda request: httpx.Response(status, json={}))


@pytest.mark.parametrize("name", sorted(PROVIDERS))
@pytest.mark.parametrize(
    ("lost", "error"),
    [
        (httpx.ConnectError, Refused),
        (httpx.ConnectTimeout, Refused),
        (httpx.PoolTimeout, Refused),
        (httpx.ReadTimeout, InDoubt),
        (httpx.WriteError, InDoubt),
        (httpx.RemoteProtocolError, InDoubt),
    ],
)
def test_only_a_missing_connection_says_that_nothing_went_out(
    name: str, lost: type[httpx.TransportError], error: type
) -> None:
    requests = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        raise lost("lost", request=request)

    with pytest.raises(error, match=lost.__name__):
        deliver(PROVIDERS[name][0], handler)
    assert len(requests) == 2, "each mailer asks once"


@pytest.mark.parametrize("body", ['{"ErrorCode":406,"MessageID":"pm_1"}', "[]", "no JSON"])
def test_a_success_of_postmark_that_does_not_say_so_is_in_doubt(body: str) -> None:
    with pytest.raises(InDoubt, match="error code"):
        deliver(Postmark("t"), lambda request: httpx.Response(200, text=body))


def test_a_mail_to_somebody_else_and_a_late_one_are_not_handed_over() -> None:
    provider, _ = PROVIDERS["resend"]
    never = httpx.MockTransport(lambda request: pytest.fail("a mail went out"))
    mailer, clock = HttpMailer(provider, transport=never), Clock()
    with pytest.raises(Refused, match="somebody else"):
        mailer.send(PERMIT, Mail("a@b.example", "s", text="t", to="kim@example.com"))
    clock.now += 600
    with pytest.raises(Refused, match="ran out"):
        mailer.send(a_permit(clock), MAIL)
    mailer.close()


def ses_client(**retries: Any) -> Any:
    """A client as boto3 makes it, without a network."""
    session = botocore.session.Session()
    session.set_credentials("id", "secret")
    config = Config(retries=retries) if retries else Config()
    return session.create_client("sesv2", region_name="eu-west-1", config=config)


def test_ses_sends_the_raw_mail_to_exactly_the_recipients() -> None:
    client = ses_client(total_max_attempts=1)
    with Stubber(client) as stubbed:
        stubbed.add_response(
            "send_email",
            {"MessageId": "ses_1"},
            {
                "FromEmailAddress": "billing@acme.example",
                "Destination": {"ToAddresses": ["pat@example.com"]},
                "Content": {"Raw": {"Data": ANY}},
            },
        )
        assert SesMailer(client).send(a_permit(), message()) == Delivered("ses_1", "ses")


@pytest.mark.parametrize(
    ("status", "error"), [(400, Refused), (403, Refused), (429, Refused), (500, InDoubt)]
)
def test_an_error_of_ses_is_judged_by_its_status(status: int, error: type) -> None:
    client = ses_client(max_attempts=0)
    with Stubber(client) as stubbed:
        stubbed.add_client_error("send_email", "Some", http_status_code=status)
        with pytest.raises(error, match=str(status)):
            SesMailer(client).send(a_permit(), message())


def test_a_client_of_ses_that_repeats_by_itself_is_refused() -> None:
    for client in (ses_client(), ses_client(total_max_attempts=2)):
        with pytest.raises(LedgerError, match="total_max_attempts"):
            SesMailer(client)


class CommuneError(Exception):
    """As commune-mail has it."""

    def __init__(self, status_code: int) -> None:
        super().__init__("refused")
        self.status_code = status_code


def test_commune_is_given_headers_and_thread_and_its_errors_are_judged() -> None:
    given: list[dict[str, Any]] = []

    def send(**fields: Any) -> Any:
        given.append(fields)
        return SimpleNamespace(id="c_1", message_id="<m@commune.example>")

    client = SimpleNamespace(messages=SimpleNamespace(send=send))
    mailer = CommuneMailer(client, inbox_id="i_1")
    delivered = mailer.send(PERMIT, MAIL, thread_id="t_1")
    assert delivered == Delivered("c_1", "commune", "<m@commune.example>")
    (fields,) = given
    assert fields["headers"] == PERMIT.headers
    assert (fields["to"], fields["cc"]) == ("pat@example.com", ["boss@example.com"])
    assert (fields["thread_id"], fields["inbox_id"]) == ("t_1", "i_1")
    for error, expected in (
        (CommuneError(400), Refused),
        (CommuneError(429), Refused),
        (CommuneError(500), InDoubt),
        (httpx.ConnectError("no"), Refused),
        (httpx.ReadTimeout("late"), InDoubt),
    ):
        client.messages.send = _raising(error)
        with pytest.raises(expected):
            mailer.send(PERMIT, MAIL)


def _raising(error: Exception) -> Callable[..., None]:
    def send(**fields: Any) -> None:
        raise error

    return send
