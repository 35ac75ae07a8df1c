"""Every kind of mail beside the others: its send keys are its own, and it is known by its name."""

from typing import Any, get_args

import pytest

from api.contract.fields import Kind
from api.contract.permits import PERMIT_REQUEST
from ledger.application.kinds.apology import apology_key
from ledger.application.kinds.digest import digest_key
from ledger.application.kinds.follow_up import follow_up_key
from ledger.application.kinds.message import intent_key
from ledger.application.kinds.notification import notification_key
from ledger.application.kinds.own_requests import claim_of, notice_of
from ledger.application.kinds.payment_failed import payment_attempt_key, payment_event_key
from ledger.application.kinds.registry import KINDS
from ledger.application.kinds.reminder import Reminder, stage_key
from ledger.application.kinds.reply import reply_key
from ledger.domain import sendkey
from ledger.domain.permit import Lane
from tests.support.build import address


def test_every_kind_has_its_own_keys() -> None:
    keys = {
        stage_key("a", 1, "b"),
        payment_event_key("a", "1"),
        payment_attempt_key("a", "1"),
        reply_key("a"),
        intent_key("a", "1"),
        follow_up_key("a", 1),
        notification_key("a", "1", "b"),
        digest_key("a", "1", "b"),
        apology_key("a", "1"),
        sendkey.override_key("a"),
    }
    assert len(keys) == 10
    assert len({sendkey.digest_of(key) for key in keys}) == 10


def test_requests_and_holds_may_name_each_kind() -> None:
    asked = PERMIT_REQUEST.json_schema()["discriminator"]["mapping"]
    assert set(asked) == set(get_args(Kind)) == set(KINDS)


BODIES: dict[str, dict[str, Any]] = {
    "reminder": {"invoices": ["inv_1"]},
    "payment_failed": {"invoice_id": "inv_1", "event_id": "evt_1"},
    "reply": {"thread_id": "thr_1", "in_reply_to": "<m1@example.com>"},
    "notification": {"event_type": "shipped", "event_id": "ord_9", "customer_id": "cus_1"},
    "digest": {"inbox_id": "inb_1", "date": "2026-12-04", "customer_id": "cus_1"},
    "follow_up": {"thread_id": "thr_1", "step": 2},
    "message": {"thread_id": "thr_1", "intent": "refund_notice"},
    "apology": {"incident_id": "F1", "customer_id": "cus_1"},
}


@pytest.mark.parametrize(
    ("kind", "lane", "transactional", "sets_up", "addressed"),
    [
        ("reminder", Lane.OUTREACH, Lane.OUTREACH, False, False),
        ("payment_failed", Lane.OUTREACH, Lane.TRANSACTIONAL, False, False),
        ("reply", Lane.REPLY, Lane.REPLY, False, True),
        ("notification", Lane.OUTREACH, Lane.TRANSACTIONAL, True, True),
        ("digest", Lane.OUTREACH, Lane.TRANSACTIONAL, True, True),
        ("follow_up", Lane.OUTREACH, Lane.OUTREACH, True, True),
        ("message", Lane.OUTREACH, Lane.TRANSACTIONAL, True, True),
        ("apology", Lane.APOLOGY, Lane.APOLOGY, False, False),
    ],
)
def test_what_tells_the_kinds_apart(
    kind: str, lane: Lane, transactional: Lane, sets_up: bool, addressed: bool
) -> None:
    body = BODIES[kind] | {"kind": kind} | ({"to": "ann@example.com"} if addressed else {})
    subject = KINDS[kind].from_body(PERMIT_REQUEST.validate_python(body), address)
    assert (subject.kind, subject.sets_up, subject.claim) == (kind, sets_up, False)
    assert (subject.lane(False), subject.lane(True)) == (lane, transactional)
    assert getattr(subject, "to", None) == (address("ann@example.com") if addressed else None)


def test_a_claim_is_kept_as_one_and_read_as_one() -> None:
    subject, request = claim_of(("inv_1", "inv_2"), "day-7")
    assert request == {
        "kind": "reminder",
        "invoices": ("inv_1", "inv_2"),
        "stage": "day-7",
        "claim": True,
    }
    assert subject.claim
    assert Reminder(("inv_1", "inv_2"), "day-7").as_logged(request) == subject
    assert subject.shown_invoices() == ("inv_1", "inv_2")


def test_a_notice_of_the_ledger_is_kept_as_a_request() -> None:
    subject, request = notice_of("cus_1", "shipped", "ord_9")
    asked = PERMIT_REQUEST.validate_python(request)
    assert KINDS["notification"].from_body(asked, address) == subject
