"""Calls to the HTTP gate: recipients, batches, doubts, rules, and what passes or is refused."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.http_gate import http_gate_file, running_http_gate
from tests.support.mail_provider import KEY, MailProvider, ProviderMail
from tests.support.receivers import free_port
from tests.support.service import Client, Service
from tests.support.smtp_gate import eventually

_BEARER = {"Authorization": f"Bearer {KEY}"}
_TOKEN = {"X-Postmark-Server-Token": KEY}


@pytest.fixture
def program(http_gate: str) -> Iterator[httpx.Client]:
    """A program that calls the gate."""
    with httpx.Client(base_url=http_gate, headers=_BEARER | _TOKEN, timeout=300) as client:
        yield client


def _mail(to: Any, **more: Any) -> dict[str, Any]:
    """A mail for Resend."""
    mail = {"from": "Acme <billing@acme.example>", "to": to, "subject": "Order", "text": "Sent."}
    return mail | more


def _people(name: str, count: int = 3) -> list[str]:
    return [f"r{number}-{name}@example.com" for number in range(count)]


def _permits(service: Service, taken: Any) -> dict[str, Any]:
    found: dict[str, Any] = service.get(f"/v1/permits/{taken.carried['X-Ledger-Permit']}").ok()
    return found


def test_each_recipient_is_asked_for_and_a_repeat_reaches_who_has_it_not(
    program: httpx.Client, provider: MailProvider, name: str
) -> None:
    everybody = _people(name)
    call = _mail(everybody[:2], bcc=everybody[2], subject=name)
    provider.answers += [(200, None), (500, {"message": "no"}), (200, None)]
    first = program.post("/resend/emails", json=call)
    assert (first.status_code, first.json()["name"]) == (503, "outcome_unknown")
    assert first.json()["message"].startswith("2 of 3 recipients have the mail; a repeat goes to ")
    assert f"{everybody[1]}: outcome_unknown" in first.json()["message"]
    assert first.headers["retry-after"] == "5"
    # Nobody knows whether the second got it, so it is never sent again by itself.
    assert program.post("/resend/emails", json=call).status_code == 503
    assert provider.recipients() == everybody
    assert [mail.json["to"] for mail in provider.mails] == [[one] for one in everybody]
    assert all("bcc" not in mail.json for mail in provider.mails)


def test_all_of_them_get_it_or_the_program_hears_why_not(
    program: httpx.Client, provider: MailProvider, name: str
) -> None:
    everybody = _people(name)
    assert program.post("/resend/emails", json=_mail(everybody[:1], subject=name)).is_success
    both = program.post("/resend/emails", json=_mail(everybody[:2], subject=name))
    assert both.status_code == 200
    assert both.json() == {"id": provider.mails[1].message_id}
    again = program.post("/resend/emails", json=_mail(everybody[:2], subject=name))
    assert (again.status_code, again.json()["name"]) == (422, "already_sent")
    assert again.json()["message"].startswith("2 of 2 recipients have the mail")
    assert provider.recipients() == everybody[:2]


def test_the_copies_of_a_customers_mail_go_with_it(
    program: httpx.Client, provider: MailProvider, service: Service, name: str
) -> None:
    to, boss = f"pat-{name}@example.com", f"boss-{name}@example.com"
    headers = {
        "X-Ledger-Kind": "notification",
        "X-Ledger-Event-Type": "shipped",
        "X-Ledger-Event-Id": name,
        "X-Ledger-Customer": f"c-{name}",
        "User-Agent": b"Zo\xeb",
    }
    call = _mail([f"Pat Lee <{to}>"], cc=[boss])
    assert program.post("/resend/emails", json=call, headers=headers).is_success
    (taken,) = provider.mails
    assert (taken.json["to"], taken.json["cc"]) == ([f'"Pat Lee" <{to}>'], [boss])
    assert taken.headers["user-agent"] == "Zo\xeb"
    permit = _permits(service, taken)
    assert (permit["kind"], permit["customer_id"]) == ("notification", f"c-{name}")
    assert not any(name.startswith("x-ledger") for name in taken.headers)


def test_tags_and_variables_say_what_a_mail_is(
    program: httpx.Client, provider: MailProvider, service: Service, name: str
) -> None:
    said = {
        "X-Ledger-Kind": "notification",
        "X-Ledger-Event-Type": "shipped",
        "X-Ledger-Event-Id": f"{name}-1",
    }
    to = f"pat-{name}@example.com"
    tags = [{"name": k, "value": v} for k, v in said.items()] + [{"name": "team", "value": "a"}]
    assert program.post("/resend/emails", json=_mail(to, tags=tags)).is_success
    form = {"from": "a@acme.example", "to": to, "subject": "s", "text": "t", "v:team": "a"}
    form |= {f"v:{k}": v for k, v in (said | {"X-Ledger-Event-Id": f"{name}-2"}).items()}
    auth = ("api", KEY)
    assert program.post("/mailgun/v3/acme.example/messages", data=form, auth=auth).is_success
    metadata = said | {"X-Ledger-Event-Id": f"{name}-3", "team": "a"}
    other = f"kim-{name}@example.com"
    mail = {"From": "a@acme.example", "to": other, "Subject": "s", "TextBody": "t"}
    assert program.post("/postmark/email", json=mail | {"Metadata": metadata}).is_success
    by_resend, by_mailgun, by_postmark = provider.mails
    assert [one["name"] for one in by_resend.json["tags"]] == ["team", "X-Ledger-Send"]
    assert by_mailgun.form is not None
    variables = sorted(one for one in by_mailgun.form.fields if one.startswith("v:"))
    assert variables == ["v:X-Ledger-Send", "v:team"]
    assert sorted(by_postmark.json["Metadata"]) == ["X-Ledger-Send", "team"]
    assert [_permits(service, one)["kind"] for one in provider.mails] == ["notification"] * 3


def test_an_answer_is_sent_once_for_each_message_answered(
    program: httpx.Client, provider: MailProvider, key: Client, name: str
) -> None:
    to, question = f"pat-{name}@example.com", f"<q-{name}@example.com>"
    message = {
        "thread_id": f"t-{name}",
        "message_id": question,
        "direction": "inbound",
        "from": to,
        "customer_id": f"c-{name}",
    }
    key.fact("thread.message", message)
    headers = {"In-Reply-To": question}
    heard = [
        program.post("/resend/emails", json=_mail(to, text=text, headers=headers))
        for text in ("One answer.", "Another wording.")
    ]
    assert [one.status_code for one in heard] == [200, 422]
    assert heard[1].json()["name"] == "already_replied"


def test_a_batch_is_answered_mail_by_mail(
    program: httpx.Client, provider: MailProvider, name: str
) -> None:
    one, two, three = (
        {"From": "a@acme.example", "To": to, "Subject": name, "TextBody": "t"}
        for to in _people(name)
    )
    first = program.post("/postmark/email/batch", json=[one, one, two])
    codes = [told["ErrorCode"] for told in first.json()]
    assert (first.status_code, codes) == (200, [0, 405, 0])
    assert first.json()[1]["Message"].startswith("already_sent: ")
    assert first.json()[2]["MessageID"] == provider.mails[1].message_id
    provider.answers.append((422, {"ErrorCode": 406, "Message": "inactive"}))
    templates = [mail | {"TemplateAlias": "a", "TemplateModel": {}} for mail in (one, three)]
    for mail in templates:
        del mail["Subject"], mail["TextBody"]
    answer = program.post("/postmark/email/batchWithTemplates", json={"Messages": templates})
    assert [told["ErrorCode"] for told in answer.json()] == [406, 0]
    assert [mail.path for mail in provider.mails] == ["/email", "/email", "/email/withTemplate"]


def test_a_batch_for_resend_is_strict_or_permissive(
    program: httpx.Client, provider: MailProvider, name: str
) -> None:
    mails = [_mail(to, subject=name) for to in _people(name)]
    assert program.post("/resend/emails/batch", json=mails[:1]).json() == {
        "data": [{"id": provider.mails[0].message_id}]
    }
    provider.answers += [(422, {"name": "validation_error", "message": "no"}), (200, None)]
    strict = program.post("/resend/emails/batch", json=mails)
    assert (strict.status_code, strict.json()["name"]) == (422, "http_422")
    assert strict.json()["message"].startswith("2 of 3 recipients have the mail")
    permissive = {"x-batch-validation": "permissive"}
    answer = program.post("/resend/emails/batch", json=mails, headers=permissive).json()
    assert answer["data"] == [{"id": provider.mails[2].message_id}]
    assert [one["index"] for one in answer["errors"]] == [0, 2]
    assert answer["errors"][0]["message"].startswith("already_sent: ")
    assert provider.recipients() == _people(name)


def test_each_personalization_is_a_mail_of_its_own(
    program: httpx.Client, provider: MailProvider, name: str
) -> None:
    one, two, three = _people(name)
    call = {
        "personalizations": [
            {"to": [{"email": one, "name": "Pat"}], "dynamic_template_data": {"order": 1}},
            {"to": [{"email": two}], "cc": [{"email": three}], "subject": "Other"},
        ],
        "from": {"email": "a@acme.example"},
        "subject": name,
        "template_id": "d-1",
    }
    answer = program.post("/sendgrid/v3/mail/send", json=call)
    assert (answer.status_code, answer.content) == (202, b"")
    assert answer.headers["x-message-id"] == provider.mails[0].message_id
    assert [mail.recipients for mail in provider.mails] == [[one], [two], [three]]
    (person,) = provider.mails[0].json["personalizations"]
    assert person["to"] == [{"email": one, "name": "Pat"}]
    assert person["dynamic_template_data"] == {"order": 1}
    assert program.post("/sendgrid/v3/mail/send", json=call).status_code == 403


def test_recipient_variables_make_a_mail_of_each_recipient(
    program: httpx.Client, provider: MailProvider, name: str
) -> None:
    one, two, _ = _people(name)
    form = {
        "from": "a@acme.example",
        "to": f"{one}, Kim <{two}>",
        "subject": name,
        "text": "Hello %recipient.first%",
        "recipient-variables": f'{{"{one}": {{"first": "Pat"}}, "{two}": {{"first": "Kim"}}}}',
    }
    files = {"attachment": ("a.txt", b"\r\n\x00bytes\xff", "text/plain")}
    url, auth = "/mailgun/v3/acme.example/messages", ("api", KEY)
    answer = program.post(url, data=form, files=files, auth=auth)
    assert answer.json()["id"] == f"<{provider.mails[0].message_id}>"
    forms = [mail.form for mail in provider.mails]
    assert [form.fields["to"] for form in forms if form] == [[one], [f'"Kim" <{two}>']]
    given = [form.fields["recipient-variables"] for form in forms if form]
    assert given == [[f'{{"{one}": {{"first": "Pat"}}}}'], [f'{{"{two}": {{"first": "Kim"}}}}']]
    file = ("attachment", ("a.txt", b"\r\n\x00bytes\xff", "text/plain"))
    assert [form.files for form in forms if form] == [[file], [file]]
    changed = form | {"recipient-variables": form["recipient-variables"].replace("Kim", "Kimberly")}
    again = program.post(url, data=changed, files=files, auth=auth)
    assert again.status_code == 200
    assert provider.recipients() == sorted([one, two, two])


@pytest.mark.parametrize(
    ("status", "heard", "state"),
    [(0, 503, "unknown"), (500, 503, "unknown"), (409, 503, "unknown"), (403, 403, "rejected")],
)
def test_what_a_missing_answer_leaves(
    program: httpx.Client,
    provider: MailProvider,
    service: Service,
    name: str,
    status: int,
    heard: int,
    state: str,
) -> None:
    handed_over: list[ProviderMail] = []
    provider.on_mail = handed_over.append
    provider.answers.append((status, {"statusCode": status, "name": "x", "message": "busy"}))
    call = _mail(f"pat-{name}@example.com", subject=name)
    assert program.post("/resend/emails", json=call).status_code == heard
    assert _permits(service, handed_over[0])["state"] == state
    again = program.post("/resend/emails", json=call)
    if state == "unknown":
        assert (again.status_code, again.json()["name"]) == (503, "outcome_unknown")
    else:
        assert again.status_code == 200


@pytest.mark.parametrize("status", [401, 429])
def test_a_key_that_the_provider_refused_is_not_tried_again_at_once(
    service: Service, key: Client, provider: MailProvider, name: str, status: int
) -> None:
    calls = [_mail(to, subject=name) for to in _people(name, 5)]
    told = {"statusCode": status, "name": "x", "message": "no"}

    def rejected() -> int:
        items = service.get("/v1/permits", state="rejected", sender=key.name, limit=1000).ok()
        return len(items["items"])

    before = rejected()
    with running_http_gate(http_gate_file(str(service.http.base_url), key.key, provider)) as gate:
        provider.answers.append((status, told))
        url = f"{gate}/resend/emails"
        heard = [httpx.post(url, json=call, headers=_BEARER) for call in calls]
        batch = httpx.post(f"{url}/batch", json=calls, headers=_BEARER)
        other = httpx.post(url, json=calls[0], headers={"Authorization": "Bearer other"})
    assert [one.json() for one in [*heard, batch]] == [told] * 6
    assert {one.status_code for one in [*heard, batch]} == {status}
    assert (other.status_code, "knows no login" in other.text) == (401, True)
    # The provider was called once, and one permit was used.
    assert (provider.answers, provider.mails) == ([], [])
    assert rejected() == before + 1


def test_an_outage_of_the_provider_costs_one_rejection(
    service: Service, key: Client, provider: MailProvider, name: str
) -> None:
    upstream = {"url": {"resend": f"http://127.0.0.1:{free_port()}"}}
    file = http_gate_file(str(service.http.base_url), key.key, provider)
    away = file.model_copy(update={"upstream": file.upstream.model_copy(update=upstream)})
    call = _mail(f"pat-{name}@example.com", subject=name)
    with running_http_gate(away) as gate:
        heard = [
            httpx.post(f"{gate}/resend/emails", json=call, headers=_BEARER).status_code
            for _ in range(5)
        ]
    assert heard == [503] * 5
    with running_http_gate(file) as gate:
        assert httpx.post(f"{gate}/resend/emails", json=call, headers=_BEARER).is_success
    assert len(provider.mails) == 1


def test_rules_say_what_mails_are_and_drop_what_is_refused(
    service: Service, key: Client, provider: MailProvider, name: str
) -> None:
    rule = {"login": "shop", "subject": f"{name} (?P<id>\\d+)", "kind": "notification"}
    rule |= {"fields": {"event_type": "order", "event_id": f"{name}-{{id}}"}, "refused": "drop"}
    file = http_gate_file(str(service.http.base_url), key.key, provider, rule=[rule])
    with running_http_gate(file) as gate:
        for text in ("one", "two"):
            call = _mail(f"pat-{name}@example.com", subject=f"{name} 7", text=text)
            answer = httpx.post(f"{gate}/resend/emails", json=call, headers=_BEARER)
            assert (answer.status_code, list(answer.json())) == (200, ["id"])
    assert len(provider.mails) == 1


def test_what_is_no_customers_is_not_asked_for(
    program: httpx.Client, provider: MailProvider
) -> None:
    for _ in range(2):
        call = _mail("archive@acme.example")
        answer = program.post("/resend/emails", json=call, headers={"Idempotency-Key": "k"})
        assert answer.is_success
    assert [mail.headers["idempotency-key"] for mail in provider.mails] == ["k", "k"]
    assert provider.mails[0].carried == {}


def test_a_mail_for_another_address_than_the_ledgers_goes_nowhere(
    program: httpx.Client, provider: MailProvider, key: Client, name: str
) -> None:
    address = f"pat-{name}@example.com"
    key.put_invoice(name, customer_id=f"c-{name}", email=address, due_on="2026-11-27").ok()
    headers = {"X-Ledger-Kind": "reminder", "X-Ledger-Invoice": name}
    call = _mail(f"kim-{name}@example.com", headers=headers)
    answer = program.post("/resend/emails", json=call)
    assert (answer.status_code, answer.json()["name"]) == (422, "other_address")
    assert provider.mails == []


@pytest.mark.parametrize("programs", [2, 8])
def test_of_programs_that_send_one_mail_at_once_one_does(
    program: httpx.Client, provider: MailProvider, name: str, programs: int
) -> None:
    call = _mail(f"pat-{name}@example.com", subject=name)
    with ThreadPoolExecutor(programs) as pool:
        calls = [pool.submit(program.post, "/resend/emails", json=call) for _ in range(programs)]
        heard = [one.result() for one in calls]
    assert sorted(one.status_code for one in heard)[0] == 200
    assert [one.status_code for one in heard].count(200) == 1
    codes = {one.json()["name"] for one in heard if one.status_code != 200}
    assert codes <= {"already_sent", "permit_held", "outcome_unknown"}
    assert len(provider.mails) == 1


def test_a_mail_is_seen_through_though_its_program_has_left(
    http_gate: str, provider: MailProvider, service: Service, name: str
) -> None:
    taken: list[ProviderMail] = []
    left = threading.Event()

    def on_mail(mail: ProviderMail) -> None:
        left.wait(30)
        taken.append(mail)

    provider.on_mail = on_mail
    call = _mail(f"pat-{name}@example.com", subject=name)
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{http_gate}/resend/emails", json=call, headers=_BEARER, timeout=0.3)
    left.set()
    eventually(lambda: bool(taken) and _permits(service, taken[0])["state"] == "sent")
