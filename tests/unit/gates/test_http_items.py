"""The mails of a call: what counts for their names, and what is said of them."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from api.gates.http.call import Call
from api.gates.http.item import Item
from api.gates.http.provider import Rules
from api.gates.http.registry import PROVIDERS

_PATHS = {
    "resend": "/emails",
    "postmark": "/email",
    "sendgrid": "/v3/mail/send",
    "mailgun": "/v3/a.example/messages",
}
_PLAIN: dict[str, dict[str, Any]] = {
    "resend": {"from": "a@b.c", "to": "x@y.z", "subject": "s", "text": "t", "html": "h"},
    "postmark": {"From": "a@b.c", "To": "x@y.z", "Subject": "s", "TextBody": "t", "HtmlBody": "h"},
    "sendgrid": {
        "personalizations": [{"to": [{"email": "x@y.z"}]}],
        "from": {"email": "a@b.c"},
        "subject": "s",
        "content": [{"type": "text/plain", "value": "t"}, {"type": "text/html", "value": "h"}],
    },
    "mailgun": {"from": "a@b.c", "to": "x@y.z", "subject": "s", "text": "t", "html": "h"},
}


def _items(name: str, body: dict[str, Any], *headers: tuple[str, str]) -> list[Item]:
    provider, path = PROVIDERS[name], _PATHS[name]
    if name == "mailgun":
        kind, content = "application/x-www-form-urlencoded", urlencode(body).encode()
    else:
        kind, content = "application/json", json.dumps(body).encode()
    if "TemplateModel" in body:
        path = "/email/withTemplate"
    route = provider.route(path)
    assert route is not None
    call = Call("POST", path, "", (("content-type", kind), *headers), content)
    return provider.items(route, call, Rules(100, frozenset()))


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("resend", {"text": "t  \r\n"}),
        ("resend", {"tags": [{"name": "a", "value": "b"}], "headers": {"X-Run": "7"}}),
        ("postmark", {"TextBody": "t\n", "Tag": "a", "Metadata": {"a": "b"}}),
        ("sendgrid", {"categories": ["a"], "custom_args": {"a": "b"}}),
        ("mailgun", {"o:tag": "a", "v:run": "7", "h:X-Run": "7"}),
    ],
)
def test_what_nobody_reads_does_not_count(name: str, more: dict[str, Any]) -> None:
    (plain,) = _items(name, _PLAIN[name])
    (other,) = _items(name, _PLAIN[name] | more)
    assert other.digest() == plain.digest()


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("resend", {"text": "other"}),
        ("resend", {"html": "other"}),
        ("resend", {"attachments": [{"filename": "a.pdf", "content": "eA=="}]}),
        ("resend", {"template": {"id": "a", "variables": {"order": 7}}}),
        ("postmark", {"HtmlBody": "other"}),
        ("postmark", {"Attachments": [{"Name": "a.pdf", "Content": "eA=="}]}),
        ("sendgrid", {"content": [{"type": "text/plain", "value": "t"}]}),
        ("sendgrid", {"template_id": "d-1"}),
        (
            "sendgrid",
            {"personalizations": [{"to": [{"email": "x@y.z"}], "substitutions": {"-a-": "b"}}]},
        ),
        ("mailgun", {"template": "a"}),
        ("mailgun", {"template": "a", "t:variables": '{"order": 7}'}),
        ("mailgun", {"amp-html": "other"}),
    ],
)
def test_what_somebody_reads_counts(name: str, more: dict[str, Any]) -> None:
    (plain,) = _items(name, _PLAIN[name])
    (other,) = _items(name, _PLAIN[name] | more)
    assert other.digest() != plain.digest()


def test_the_variables_of_a_template_count() -> None:
    mail = {"From": "a@b.c", "To": "x@y.z", "TemplateAlias": "order"}
    (one,) = _items("postmark", mail | {"TemplateModel": {"order": 1, "name": "Pat"}})
    (same,) = _items("postmark", mail | {"TemplateModel": {"name": "Pat", "order": 1}})
    (other,) = _items("postmark", mail | {"TemplateModel": {"order": 2, "name": "Pat"}})
    assert one.digest() == same.digest()
    assert one.digest() != other.digest()


def test_content_ids_that_a_program_draws_do_not_count() -> None:
    def mail(content_id: str) -> Item:
        file = {"filename": "logo.png", "content": "eA==", "content_id": content_id}
        html = f'<img src="cid:{content_id}">'
        (item,) = _items("resend", _PLAIN["resend"] | {"html": html, "attachments": [file]})
        return item

    assert mail("a1").digest() == mail("b2").digest()


def test_what_stands_with_a_mail_counts_before_what_stands_with_the_call() -> None:
    of_call = ("x-ledger-event-type", "of the call"), ("x-ledger-kind", "notification")
    headers = {"X-Ledger-Event-Type": "of the mail"}
    (item,) = _items("resend", _PLAIN["resend"] | {"headers": headers}, *of_call)
    assert item.own() == {"event-type": ["of the mail"], "kind": ["notification"]}
    people = [
        {"to": [{"email": "x@y.z"}]},
        {"to": [{"email": "x@y.z"}], "custom_args": {"X-Ledger-Event-Type": "of one"}},
    ]
    common = {"personalizations": people, "custom_args": {"X-Ledger-Event-Type": "of all"}}
    first, second = _items("sendgrid", _PLAIN["sendgrid"] | common, *of_call)
    assert first.own()["event-type"] == ["of all"]
    assert second.own()["event-type"] == ["of one"]
    assert (first.headers, second.headers) == ({}, {})
