"""What a mail is to the gate: by its fields, by rules, by what it answers."""

from typing import Any

import pytest

from api.gates.gate_file import Rule
from api.gates.purpose import BadHeader, Envelope, Unit, units_of
from api.gates.smtp.mail import Mail

PAT, KIM, BOSS = "pat@example.com", "kim@example.com", "boss@acme.example"


def _units(head: str, *recipients: str, rules: list[dict[str, Any]] | None = None) -> list[Unit]:
    content = (head + "\n\ntext\n").replace("\n", "\r\n").encode()
    envelope = Envelope("shop", "billing@acme.example", recipients or (PAT,), "smtp_mail")
    made = tuple(Rule.model_validate(rule) for rule in rules or [])
    return units_of(Mail(content), envelope, made, b"k" * 32)


def _asked(units: list[Unit]) -> list[dict[str, Any] | None]:
    return [unit.ask.body if unit.ask is not None else None for unit in units]


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (
            "X-Ledger-Kind: reminder\nX-Ledger-Invoice: i1, i2\nX-Ledger-Invoice: i3\n"
            "X-Ledger-Stage: day-3",
            {"kind": "reminder", "invoices": ["i1", "i2", "i3"], "stage": "day-3"},
        ),
        (
            "X-Ledger-Kind: payment_failed\nX-Ledger-Invoice: i1\nX-Ledger-Event-Id: e1",
            {"kind": "payment_failed", "invoice_id": "i1", "event_id": "e1"},
        ),
        (
            "X-Ledger-Kind: message\nX-Ledger-Thread: t1\nX-Ledger-Intent: refund",
            {"kind": "message", "thread_id": "t1", "intent": "refund", "to": PAT},
        ),
        (
            "X-Ledger-Kind: follow_up\nX-Ledger-Thread: t1\nX-Ledger-Step: 2",
            {"kind": "follow_up", "thread_id": "t1", "step": 2, "to": PAT},
        ),
        (
            "X-Ledger-Kind: reply\nX-Ledger-Thread: t1\nIn-Reply-To: <q@x.example>",
            {"kind": "reply", "thread_id": "t1", "in_reply_to": "<q@x.example>", "to": PAT},
        ),
        (
            "X-Ledger-Kind: notification\nX-Ledger-Event-Type: shipped\nX-Ledger-Event-Id: 9\n"
            "X-Ledger-Customer: C1",
            {
                "kind": "notification",
                "event_type": "shipped",
                "event_id": "9",
                "customer_id": "C1",
                "to": PAT,
            },
        ),
        (
            "X-Ledger-Kind: digest\nX-Ledger-Inbox: b\nX-Ledger-Date: 2026-12-01",
            {"kind": "digest", "inbox_id": "b", "date": "2026-12-01", "to": PAT},
        ),
        (
            "X-Ledger-Kind: apology\nX-Ledger-Incident: n1\nX-Ledger-Customer: C1",
            {"kind": "apology", "incident_id": "n1", "customer_id": "C1"},
        ),
        (
            "In-Reply-To: <b@x.example>\nReferences: <a@x.example> <b@x.example>",
            {
                "kind": "reply",
                "thread_id": "a@x.example",
                "in_reply_to": "<b@x.example>",
                "to": PAT,
            },
        ),
        (
            "References: <a@x.example> <b@x.example>",
            {
                "kind": "reply",
                "thread_id": "a@x.example",
                "in_reply_to": "<b@x.example>",
                "to": PAT,
            },
        ),
    ],
)
def test_the_head_of_a_mail_says_what_it_is(head: str, body: dict[str, Any]) -> None:
    assert _asked(_units(head)) == [body]


@pytest.mark.parametrize(
    "head",
    [
        "X-Ledger-Kind: letter",
        "X-Ledger-Kind:",
        "X-Ledger-Kind: reminder\nX-Ledger-Kind: reminder",
        "X-Ledger-Thread: t1",
        "X-Ledger-Kind: follow_up\nX-Ledger-Step: two",
        "X-Ledger-Kind: payment_failed\nX-Ledger-Invoice: i1, i2",
        "X-Ledger-Kind: reminder\nX-Ledger-Invoice: i1,",
        "X-Ledger-Kind: message\nX-Ledger-Nonsense: 1",
    ],
)
def test_a_head_that_says_it_wrongly_is_refused(head: str) -> None:
    with pytest.raises(BadHeader):
        _units(head)


def test_a_mail_that_says_nothing_is_asked_for_by_each_recipient() -> None:
    one, other = _units("Subject: hello", PAT, KIM)
    assert (one.recipients, other.recipients) == ((PAT,), (KIM,))
    assert one.ask is not None
    assert other.ask is not None
    assert one.ask.fields["event_type"] == "smtp_mail"
    assert one.ask.fields["to"] == PAT
    assert one.ask.fields["event_id"] != other.ask.fields["event_id"]


def test_an_event_goes_to_each_address_but_a_customers_mail_is_one() -> None:
    head = (
        "To: Kim <KIM@example.com>\nX-Ledger-Kind: notification\n"
        "X-Ledger-Event-Type: e\nX-Ledger-Event-Id: 1"
    )
    assert [unit.recipients for unit in _units(head, PAT, KIM)] == [(PAT,), (KIM,)]
    (unit,) = _units(head + "\nX-Ledger-Customer: C1", PAT, KIM)
    assert unit.recipients == (KIM, PAT)
    assert unit.ask is not None
    assert (unit.ask.fields["to"], unit.ask.fields["cc"]) == (KIM, [PAT])


def test_a_permit_covers_so_many_copies() -> None:
    head = "X-Ledger-Kind: reminder\nX-Ledger-Invoice: i1"
    many = [f"r{number}@example.com" for number in range(22)]
    assert len(_units(head, *many[:21])[0].recipients) == 21
    with pytest.raises(BadHeader):
        _units(head, *many)


def test_only_what_was_guessed_to_be_an_answer_has_another_try() -> None:
    (guessed,) = _units("In-Reply-To: <q@x.example>", PAT, KIM)
    assert [unit.recipients for unit in guessed.instead] == [(PAT,), (KIM,)]
    (said,) = _units("In-Reply-To: <q@x.example>\nX-Ledger-Kind: reply")
    assert said.instead == ()


_OVERDUE = {
    "subject": r"Invoice (?P<invoice>INV-\d+) is overdue",
    "kind": "reminder",
    "fields": {"invoices": ["{invoice}"]},
    "refused": "drop",
}


@pytest.mark.parametrize(
    ("rule", "fits"),
    [
        (_OVERDUE, True),
        ({**_OVERDUE, "login": "shop", "sender": "*@ACME.example"}, True),
        ({**_OVERDUE, "login": "other"}, False),
        ({**_OVERDUE, "sender": "*@other.example"}, False),
        ({**_OVERDUE, "recipient": "*@example.org"}, False),
    ],
)
def test_a_rule_says_what_a_mail_is_where_all_of_it_fits(rule: dict[str, Any], fits: bool) -> None:
    (unit,) = _units("Subject: Invoice INV-7 is overdue", rules=[rule])
    assert unit.ask is not None
    assert unit.ask.kind == ("reminder" if fits else "notification")
    assert unit.refused == ("drop" if fits else None)
    if fits:
        assert unit.ask.fields == {"invoices": ["INV-7"]}


def test_the_first_rule_wins_the_mail_before_all_rules_and_unguarded_before_all() -> None:
    rules = [
        {"recipient": "*@acme.example", "kind": "unguarded"},
        {"login": "shop", "refused": "drop"},
        {"sender": "billing@*", "kind": "fingerprint"},
        {"sender": "*", "kind": "message", "fields": {"thread_id": "t", "intent": "i"}},
    ]
    guarded, own = _units("In-Reply-To: <q@x.example>", BOSS, PAT, rules=rules)
    assert guarded.ask is not None
    assert (guarded.recipients, guarded.ask.kind, guarded.refused) == (
        (PAT,),
        "notification",
        "drop",
    )
    assert (own.recipients, own.ask) == ((BOSS,), None)
    head = "X-Ledger-Kind: reminder\nX-Ledger-Invoice: i1"
    asked = _asked(_units(head, BOSS, PAT, rules=rules))
    assert asked == [{"kind": "reminder", "invoices": ["i1"]}, None]
