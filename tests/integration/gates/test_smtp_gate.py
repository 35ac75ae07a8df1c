"""A program that changes host and port: its mails are asked for, handed over, reported, once."""

import smtplib
from typing import Any

import pytest

from tests.support.service import Client, Service
from tests.support.smtp_gate import (
    LOGIN,
    PASSWORD,
    UpstreamServer,
    gate_file,
    mail,
    running_gate,
    sends,
)


def _permits(service: Service, state: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = service.get("/v1/permits", state=state, limit=1000).ok()["items"]
    return items


def test_a_mail_goes_out_once_with_its_permit(
    gate: int, upstream: UpstreamServer, service: Service, name: str
) -> None:
    to = f"pat-{name}@example.com"
    message = mail(f"Order {name}", To=f"Pat <{to}>")
    assert sends(gate, message, to)[0] == 250
    code, text = sends(gate, message, to)
    assert code == 550
    assert text.startswith("5.7.1 already_sent: ")
    assert text.endswith("Do not send: this mail went out already.")
    (taken,) = upstream.mails
    assert (taken.sender, taken.recipients) == ("billing@acme.example", (to,))
    assert taken.message.get_content().replace("\r\n", "\n") == "It is on its way.\n"
    permit = service.get(f"/v1/permits/{taken.message['X-Ledger-Permit']}").ok()
    assert (permit["state"], permit["kind"]) == ("sent", "notification")
    assert taken.message["Message-ID"] == permit["message_id"]
    assert taken.message["X-Ledger-Send"] == permit["send_token"]


def test_what_the_mail_says_of_itself_is_asked_for_and_stripped(
    gate: int, upstream: UpstreamServer, key: Client, name: str
) -> None:
    to = f"pat-{name}@example.com"
    key.put_invoice(name, customer_id=f"c-{name}", email=to, due_on="2026-11-27").ok()
    headers = {
        "X_Ledger_Kind": "reminder",
        "X_Ledger_Invoice": name,
        "Message_ID": "<own@acme.example>",
    }
    for text in ("The first run.\n", "The second run writes another text.\n"):
        reply = sends(gate, mail("Reminder", text, To=to, **headers), to)
    assert reply[0] == 550
    (taken,) = upstream.mails
    own = [name for name in taken.message if name.lower().startswith("x-ledger")]
    assert own == ["X-Ledger-Permit", "X-Ledger-Send"]
    assert taken.message.get_all("Message-ID") == ["<own@acme.example>"]
    assert key.stages(name)["day-3"] == "sent"
    found = key.get(f"/v1/permits/{taken.message['X-Ledger-Permit']}").ok()
    assert found["items"][0]["invoice_id"] == name


def test_the_copies_of_such_a_mail_go_with_it_or_not_at_all(
    gate: int, upstream: UpstreamServer, key: Client, name: str
) -> None:
    to, boss = f"pat-{name}@example.com", f"boss-{name}@example.com"
    key.put_invoice(name, customer_id=f"c-{name}", email=to, due_on="2026-11-27").ok()
    headers = {"X_Ledger_Kind": "reminder", "X_Ledger_Invoice": name}
    assert sends(gate, mail(To=to, Cc=boss, **headers), boss, to)[0] == 250
    assert [taken.recipients for taken in upstream.mails] == [(to, boss)]


def test_a_mail_for_another_address_than_the_ledgers_goes_nowhere(
    gate: int, upstream: UpstreamServer, key: Client, name: str
) -> None:
    key.put_invoice(
        name, customer_id=f"c-{name}", email=f"pat-{name}@example.com", due_on="2026-11-27"
    ).ok()
    headers = {"X_Ledger_Kind": "reminder", "X_Ledger_Invoice": name}
    code, text = sends(gate, mail(**headers), f"kim-{name}@example.com")
    assert (code, text.split(": ")[0]) == (550, "5.7.1 other_address")
    assert upstream.mails == []


def test_an_answer_is_sent_once_for_each_message_answered(
    gate: int, upstream: UpstreamServer, key: Client, name: str
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
    one = mail("Re: hello", "One answer.\n", In_Reply_To=question)
    other = mail("Re: hello", "Another wording.\n", In_Reply_To=question)
    assert sends(gate, one, to)[0] == 250
    code, text = sends(gate, other, to)
    assert (code, text.split(": ")[0]) == (550, "5.7.1 already_replied")
    assert len(upstream.mails) == 1


def test_an_answer_to_what_the_ledger_does_not_know_goes_by_its_fingerprint(
    gate: int, upstream: UpstreamServer, name: str
) -> None:
    to = f"pat-{name}@example.com"
    headers = {"In_Reply_To": "<ticket-7@acme.example>"}
    assert sends(gate, mail("Ticket", f"{name} is open.\n", **headers), to)[0] == 250
    assert sends(gate, mail("Ticket", f"{name} is open.\n", **headers), to)[0] == 550
    assert sends(gate, mail("Ticket", f"{name} is closed.\n", **headers), to)[0] == 250
    assert len(upstream.mails) == 2


def test_each_recipient_is_asked_for_and_a_repeat_reaches_who_has_it_not(
    gate: int, upstream: UpstreamServer, name: str
) -> None:
    everybody = [f"r{number}-{name}@example.com" for number in range(3)]
    upstream.replies[everybody[1]] = "450 4.2.1 mailbox busy"
    message = mail(name)
    code, text = sends(gate, message, *everybody)
    assert code == 451
    assert text.splitlines() == [
        "4.7.1 2 of 3 recipients have the mail; a repeat goes to none of them",
        f"4.7.1 <{everybody[1]}>: mailbox busy",
    ]
    upstream.replies.clear()
    assert sends(gate, message, *everybody)[0] == 250
    assert upstream.recipients() == everybody
    assert sends(gate, message, *everybody)[0] == 550
    assert len(upstream.mails) == 3


def test_a_recipient_who_is_refused_for_good_keeps_the_others_from_nothing(
    gate: int, upstream: UpstreamServer, key: Client, name: str
) -> None:
    held, free = f"held-{name}@example.com", f"free-{name}@example.com"
    key.fact("customer.observed", {"customer_id": f"c-{name}", "emails": [held]})
    key.fact("customer.hold", {"customer_id": f"c-{name}", "reason": "promise"})
    code, text = sends(gate, mail(name), held, free)
    assert code == 550
    assert text.splitlines()[0].startswith("5.7.1 1 of 2 recipients have the mail")
    assert f"<{held}>: on_hold" in text
    assert upstream.recipients() == [free]


def test_an_address_that_is_not_ascii_passes(
    gate: int, upstream: UpstreamServer, name: str
) -> None:
    to = f"größe-{name}@example.com"
    assert sends(gate, mail(name), to)[0] == 250
    assert upstream.recipients() == [to]


def test_own_addresses_are_not_asked_about(
    gate: int, upstream: UpstreamServer, service: Service, name: str
) -> None:
    before = len(_permits(service, "sent"))
    for _ in range(2):
        assert sends(gate, mail(name), "archive@acme.example")[0] == 250
    assert [taken.recipients for taken in upstream.mails] == [("archive@acme.example",)] * 2
    assert len(_permits(service, "sent")) == before


@pytest.mark.parametrize(
    ("where", "reply", "heard", "state"),
    [
        ("mail", "550 5.1.8 no such sender", 550, None),
        ("mail", "421 4.3.2 shutting down", 451, None),
        ("data", "554 5.7.1 spam", 554, "rejected"),
        ("data", "451 4.3.0 disk full", 451, "rejected"),
        ("data", None, 451, "unknown"),
    ],
)
def test_what_upstream_says_is_what_the_program_and_the_ledger_hear(
    gate: int,
    upstream: UpstreamServer,
    service: Service,
    name: str,
    where: str,
    reply: str | None,
    heard: int,
    state: str | None,
) -> None:
    to = f"pat-{name}@example.com"
    upstream.replies[where] = reply
    fields = {"X_Ledger_Kind": "notification", "X_Ledger_Event_Type": "shipped"}
    message = mail(To=to, **fields, X_Ledger_Event_Id=name, X_Ledger_Customer=f"c-{name}")
    code, text = sends(gate, message, to)
    assert code == heard
    upstream.replies.clear()
    decisions = service.get("/v1/decisions", customer_id=f"c-{name}").ok()["items"]
    if state is None:
        assert decisions == []
    else:
        held = [one for one in _permits(service, state) if one["customer_id"] == f"c-{name}"]
        assert len(held) == 1
    code, text = sends(gate, message, to)
    if state == "unknown":
        assert (code, text.split(": ")[0]) == (451, "4.7.1 outcome_unknown")
    else:
        assert code == 250
    assert len(upstream.mails) == 1


def test_a_ledger_or_an_upstream_that_is_away_is_no_no(
    service: Service, key: Client, upstream: UpstreamServer, name: str
) -> None:
    url = str(service.http.base_url)
    nobody = gate_file("http://127.0.0.1:9", key.key, bounds={"ledger_seconds": 0.1})
    stranger = gate_file(url, "slk_nobody")
    with (
        running_gate(nobody, upstream.port) as no_ledger,
        running_gate(stranger, upstream.port) as no_key,
    ):
        assert sends(no_ledger, mail(name), "a@example.com", "b@example.com")[0] == 451
        assert sends(no_key, mail(name), "a@example.com")[0] == 451
    with running_gate(gate_file(url, key.key), 9) as no_upstream:
        assert sends(no_upstream, mail(name), "a@example.com")[0] == 451
    assert upstream.mails == []


def test_a_program_that_repeats_what_is_550_may_hear_250(
    service: Service, key: Client, upstream: UpstreamServer, name: str
) -> None:
    rules = [
        {
            "sender": "billing@*",
            "subject": r"order (?P<order>\S+)",
            "kind": "notification",
            "fields": {"event_type": "ordered", "event_id": "{order}"},
            "refused": "drop",
        }
    ]
    file = gate_file(str(service.http.base_url), key.key, rule=rules)
    to = f"pat-{name}@example.com"
    with running_gate(file, upstream.port) as port:
        assert sends(port, mail(f"Your order {name}", "Once.\n"), to)[0] == 250
        assert sends(port, mail(f"Your order {name}", "Twice.\n"), to)[0] == 250
    assert len(upstream.mails) == 1


def test_who_does_not_log_in_or_not_rightly_is_not_heard(
    gate: int, upstream: UpstreamServer
) -> None:
    with smtplib.SMTP("127.0.0.1", gate, timeout=300) as smtp:
        with pytest.raises(smtplib.SMTPSenderRefused) as caught:
            smtp.send_message(mail(), to_addrs=["pat@example.com"])
        assert caught.value.smtp_code == 530
        for user, password in ((LOGIN, "guess"), ("nobody", PASSWORD), (LOGIN, "")):
            with pytest.raises(smtplib.SMTPAuthenticationError):
                smtp.login(user, password)
    assert upstream.mails == []


def test_programs_without_a_login_come_from_known_networks(
    service: Service, key: Client, upstream: UpstreamServer, name: str
) -> None:
    url = str(service.http.base_url)
    known = gate_file(url, "-", login=[], anonymous={"key": key.key})
    other = gate_file(url, "-", login=[], anonymous={"key": key.key, "networks": ["10.0.0.0/8"]})
    with running_gate(known, upstream.port) as port, smtplib.SMTP("127.0.0.1", port) as smtp:
        smtp.send_message(mail(name), to_addrs=[f"pat-{name}@example.com"])
    with (
        running_gate(other, upstream.port) as port,
        smtplib.SMTP("127.0.0.1", port) as smtp,
        pytest.raises(smtplib.SMTPSenderRefused),
    ):
        smtp.send_message(mail(name), to_addrs=[f"kim-{name}@example.com"])
    assert upstream.recipients() == [f"pat-{name}@example.com"]


def test_no_address_is_logged(
    gate: int, upstream: UpstreamServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    sends(gate, mail(name), f"pat-{name}@example.com")
    told = [record.getMessage() for record in caplog.records if record.name == "ledger.gate"]
    assert told == ["sent: 250 queued as 7"]
    assert not [r for r in caplog.records if "@example.com" in r.getMessage()]
