"""A mail of a lost permit uses its send up: by what it carries, or by what is told of it (D13)."""

from dataclasses import replace
from typing import Any

import pytest

from ledger.application.commands import (
    CallPause,
    CallResume,
    DeclareIncident,
    EnterRecovery,
    NoteGuardCheck,
    RequestPermit,
)
from ledger.application.facts.delivery import Delivery
from ledger.application.facts.lost_mail import Carried
from ledger.application.facts.send_observed import SendObserved
from ledger.application.kinds.registry import KINDS
from ledger.domain import sendkey
from ledger.domain.send_imprint import MailProof, proof_in_token
from tests.support.build import (
    IDENTITY,
    LAST,
    OPERATOR,
    RECEIPTS,
    SECRET,
    address,
    apology,
    at,
    days,
    digest,
    fact,
    follow_up,
    hours,
    intent,
    invoice,
    merged,
    message,
    minutes,
    notification,
    payment_failed,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.given import Scenario, given

NOW = at("2026-12-04T12:00:00Z")
SENT = "2026-12-04T13:00:00Z"
_INCIDENT = DeclareIncident(
    "F1", "a flood", "a bug", at("2026-12-03"), at("2026-12-04"), "ann", OPERATOR
)
_PAUSED = CallPause("kind:nothing", "the flood", "ann", OPERATOR)
KINDS_ASKED: dict[str, tuple[RequestPermit, str, dict[str, Any]]] = {
    "reminder": (
        reminder(stage="day-3"),
        "already_sent",
        {"invoice_id": "inv_1", "stage": "day-3"},
    ),
    "payment_failed": (
        payment_failed("evt_1", "att_1"),
        "already_sent",
        {"invoice_id": "inv_1", "event_id": "evt_1"},
    ),
    "reply": (
        reply(),
        "already_replied",
        {"thread_id": "thr_1", "in_reply_to": "<m1@example.com>"},
    ),
    "notification": (
        notification(),
        "already_sent",
        {"event_type": "shipped", "event_id": "ord_9"},
    ),
    "digest": (
        digest(),
        "already_sent",
        {"inbox_id": "inb_1", "date": at("2026-12-04").date()},
    ),
    "follow_up": (follow_up(thread="thr_2"), "already_sent", {"thread_id": "thr_2", "step": 1}),
    "message": (
        intent(thread="thr_2"),
        "duplicate_intent",
        {"thread_id": "thr_2", "intent": "refund_notice"},
    ),
    "apology": (apology(), "apology_already_sent", {"incident_id": "F1"}),
}
ASKED = pytest.mark.parametrize("kind", KINDS_ASKED)


def backed_up() -> Scenario:
    """A ledger as it was when the backup was made: everything is known, nothing was sent."""
    return given(
        NOW,
        invoice(),
        message(),
        message("<m2@example.com>", "thr_2"),
        message("<o2@example.com>", "thr_2", direction="outbound"),
        _INCIDENT,
        _PAUSED,
    )


def sent_and_lost(command: RequestPermit) -> dict[str, Any]:
    """What the ledger answered to a request before it was lost."""
    return backed_up().when(command).granted_now().body


def restored() -> Scenario:
    """The backup in the place of what was lost."""
    scenario = backed_up().when(EnterRecovery("restored", None), hours(2))
    scenario.number_from(1_000)
    return scenario


def resumed(scenario: Scenario) -> Scenario:
    """A human has declared the gap filled."""
    version = scenario.aggregate("control", "ledger").version
    check = NoteGuardCheck("check", scenario.store.now, version, (), OPERATOR)
    end = CallResume("recovery", "the log was imported", "ann", "check", OPERATOR)
    return scenario.when(check, end).then(status=200)


def told(body: dict[str, Any], **how: Any) -> SendObserved:
    """The mail of a permit as its token tells of it."""
    carried = Carried(token=body["send_token"])
    return SendObserved("cus_1", at(SENT), carried=replace(carried, **how))


@ASKED
def test_a_token_settles_its_send(kind: str) -> None:
    command, code, _ = KINDS_ASKED[kind]
    body = sent_and_lost(command)
    scenario = restored().when(told(body)).then(result="applied")
    scenario.when(command).then(status=409, code=code, events=[])
    original = scenario.body["original"]
    assert original["permit_id"] == body["permit_id"]
    assert original["sender"] == "observed:"
    assert original["sent_at"] == SENT
    resumed(scenario).when(command).then(status=409, code=code)


@ASKED
def test_our_message_id_in_a_delivery_report_settles_its_send(kind: str) -> None:
    command, code, _ = KINDS_ASKED[kind]
    body = sent_and_lost(command)
    word = Delivery("ses", "delivered", "pm_1", body["message_id"])
    scenario = restored().when(fact(word, SENT)).then(result="applied", alerts=[])
    scenario.when(command).then(status=409, code=code)
    assert scenario.body["original"]["provider_message_id"] == "pm_1"


@ASKED
def test_the_fields_of_the_kind_settle_its_send(kind: str) -> None:
    command, code, fields = KINDS_ASKED[kind]
    subject = KINDS[kind].from_sent({"customer_id": "cus_1"} | fields)
    sent = SendObserved("cus_1", at(SENT), subject=subject)
    scenario = restored().when(sent).then(result="applied")
    resumed(scenario).when(command).then(status=409, code=code)


@ASKED
def test_the_key_that_the_provider_was_given_settles_its_send(kind: str) -> None:
    command, code, _ = KINDS_ASKED[kind]
    body = sent_and_lost(command)
    key = body["provider_idempotency_key"]
    scenario = restored().when(SendObserved("cus_1", at(SENT), carried=Carried(provider_key=key)))
    resumed(scenario).when(command).then(status=409, code=code)


def test_a_key_of_a_later_try_settles_the_send_too() -> None:
    refused = backed_up().when(notification(), report("rejected"), notification())
    key = refused.granted_now().body["provider_idempotency_key"]
    sent = SendObserved("cus_1", at(SENT), carried=Carried(provider_key=key))
    resumed(restored().when(sent)).when(notification()).then(status=409, code="already_sent")


@ASKED
def test_other_sends_of_the_kind_are_granted(kind: str) -> None:
    others = {
        "reminder": reminder("inv_9", stage="day-3"),
        "payment_failed": payment_failed("evt_9", "att_9"),
        "reply": reply("<m9@example.com>", "thr_9"),
        "notification": notification("ord_99"),
        "digest": digest("2026-12-03"),
        "follow_up": follow_up(thread="thr_9"),
        "message": intent(thread="thr_9"),
        "apology": apology("cus_9"),
    }
    body = sent_and_lost(KINDS_ASKED[kind][0])
    scenario = restored().when(
        told(body),
        invoice("inv_9", "cus_9"),
        message("<m9@example.com>", "thr_9", "cus_9"),
        message("<o9@example.com>", "thr_9", "cus_9", direction="outbound"),
        days(1),
    )
    resumed(scenario).when(others[kind]).granted_now()


def test_the_mail_counts_in_the_windows_once_whoever_tells_of_it() -> None:
    body = sent_and_lost(notification())
    word = Delivery("ses", "delivered", None, body["message_id"], recipient=address("a@x.example"))
    scenario = restored().when(told(body))
    scenario.then(events=["Customer.MailObserved", "Control.LostSendNoted"])
    customer = scenario.aggregate("customer", "cus_1")
    (mail,) = customer.permits.values()
    assert (mail.kind, mail.lane, mail.counts_at) == ("observed", "outreach", at(SENT))
    assert mail.imprint.startswith("no")
    scenario.when(told(body)).then(result="applied", events=[])
    scenario.when(fact(word, SENT))
    assert len(scenario.aggregate("customer", "cus_1").permits) == 1


def test_a_receipt_counts_among_the_receipts() -> None:
    body = sent_and_lost(replace(notification(), caller=RECEIPTS))
    scenario = restored().when(told(body))
    (mail,) = scenario.aggregate("customer", "cus_1").permits.values()
    assert mail.lane == "transactional"


def test_the_recipient_of_a_delivery_report_is_who_the_mail_counts_for() -> None:
    body = sent_and_lost(notification())
    at_pat = Delivery(
        "ses", "delivered", "pm_1", body["message_id"], recipient=address("pat@x.example")
    )
    scenario = restored().when(fact(at_pat, SENT), fact(at_pat, SENT))
    owner = scenario.aggregate("customer", f"adr_{address('pat@x.example').fingerprint}")
    assert [mail.counts_at for mail in owner.permits.values()] == [at(SENT)]


def test_a_lost_permit_proves_the_loss_once() -> None:
    body = sent_and_lost(notification())
    word = fact(Delivery("ses", "delivered", "pm_1", body["message_id"]), SENT)
    scenario = backed_up().when(hours(2)).when(word).then(alerts=["recovery_mode"])
    resumed(scenario).when(word).then(alerts=[], events=[])
    scenario.when(notification()).then(status=409, code="already_sent")


def test_both_keys_of_a_failed_payment_are_used() -> None:
    body = sent_and_lost(payment_failed("evt_1", "att_1"))
    scenario = resumed(restored().when(told(body)))
    scenario.when(payment_failed("evt_1")).then(status=409, code="already_sent")
    scenario.when(payment_failed("evt_2", "att_1")).then(status=409, code="already_sent")
    scenario.when(days(1), payment_failed("evt_2", "att_2")).granted_now()


def test_a_send_is_used_under_every_id_of_the_customer() -> None:
    body = sent_and_lost(notification(customer="cus_1"))
    scenario = resumed(restored().when(told(body), merged("cus_1", "cus_2")))
    scenario.when(notification(customer="cus_2")).then(status=409, code="already_sent")
    scenario.when(notification(customer="cus_1")).then(status=409, code="already_sent")


def test_a_send_to_a_merged_customer_is_used_under_the_ids_before() -> None:
    before = backed_up().when(merged("cus_1", "cus_2"), notification(customer="cus_2"))
    body = before.granted_now().body
    scenario = resumed(restored().when(told(body)))
    scenario.when(notification(customer="cus_1")).then(status=409, code="already_sent")


def test_a_send_to_an_address_is_used_for_who_turns_out_to_have_it() -> None:
    body = sent_and_lost(notification(customer=None, to="pat@x.example"))
    scenario = restored().when(told(body), invoice("inv_2", "cus_2", email="pat@x.example"))
    resumed(scenario).when(notification(customer="cus_2")).then(status=409, code="already_sent")


def test_a_stage_is_used_in_its_cycle_only() -> None:
    body = sent_and_lost(reminder(stage="day-3"))
    scenario = resumed(restored().when(told(body)))
    scenario.when(reminder()).then(status=409, code="already_sent")
    moved = invoice(due="2026-12-20", seen="2026-12-05")
    scenario.when(days(1), moved, at("2026-12-23T12:00:00Z"), reminder())
    assert scenario.granted_now().body["items"][0]["cycle"] == 2


def test_a_stage_of_a_later_cycle_is_used_in_that_one() -> None:
    moved = invoice(due="2026-12-05", seen="2026-12-04T12:30:00Z")
    later = at("2026-12-08T12:00:00Z")
    before = backed_up().when(hours(1), moved, later, reminder())
    assert before.granted_now().body["items"][0]["cycle"] == 2
    scenario = restored().when(moved, later, told(before.body))
    resumed(scenario).when(reminder()).then(status=409, code="already_sent")


def test_of_a_reminder_of_many_invoices_those_that_were_not_sent_are_granted() -> None:
    two = (invoice("inv_2"), invoice("inv_3"))
    first = backed_up().when(*two, reminder("inv_1", "inv_2"))
    scenario = restored().when(*two, told(first.granted_now().body), days(1))
    resumed(scenario).when(reminder("inv_1", "inv_2", "inv_3")).granted_now()
    assert [item["invoice_id"] for item in scenario.body["items"]] == ["inv_3"]
    assert {w["invoice_id"]: w["code"] for w in scenario.body["withheld"]} == {
        "inv_1": "already_sent",
        "inv_2": "already_sent",
    }


def test_a_human_repeats_what_a_lost_mail_said_once_an_action() -> None:
    body = sent_and_lost(notification())
    scenario = resumed(restored().when(told(body), days(1)))
    scenario.when(notification(override="act_1", by=OPERATOR)).granted_now()
    scenario.when(redeem(LAST, "a1", by=OPERATOR)).then(status=200)


def test_a_repeat_that_was_lost_is_not_made_again() -> None:
    first = backed_up().when(notification(), report(), notification(override="act_1", by=OPERATOR))
    scenario = resumed(restored().when(told(first.granted_now().body), days(1)))
    again = notification(override="act_1", by=OPERATOR)
    scenario.when(again).then(status=409, code="already_sent")
    scenario.when(notification(override="act_2", by=OPERATOR)).granted_now()


def test_a_permit_that_was_granted_before_the_mail_was_heard_of_is_not_redeemed() -> None:
    body = sent_and_lost(notification())
    scenario = backed_up()
    scenario.number_from(1_000)
    scenario.when(notification(), minutes(1), told(body))
    resumed(scenario).when(redeem()).then(status=409, code="revoked")
    scenario.when(notification()).then(status=409, code="already_sent")


def test_a_token_of_a_permit_that_is_known_settles_it() -> None:
    scenario = backed_up().when(notification())
    scenario.when(told(scenario.body)).then(result="applied", events=["Customer.MailSettled"])
    assert scenario.permit().state == "sent"
    assert scenario.aggregate("control", "ledger").lost_sends is False


@pytest.mark.parametrize("made", ["another's", "altered"])
def test_a_forged_token_is_rejected(made: str) -> None:
    token = sent_and_lost(notification())["send_token"]
    forged = token[:-1] + ("0" if token[-1] != "0" else "1") if made == "altered" else "a-b-c"
    scenario = restored().when(SendObserved("cus_1", at(SENT), carried=Carried(token=forged)))
    scenario.then(result="rejected", events=[])
    assert "send_token" in scenario.body["detail"]


def test_a_message_id_of_before_there_were_marks_says_nothing_of_the_send() -> None:
    old = IDENTITY.message_id("4f5f6f7f-0000-4000-8000-000000000000")
    scenario = restored().when(SendObserved("cus_1", at(SENT), carried=Carried(message_id=old)))
    scenario.then(result="applied", events=["Customer.MailObserved"])


def test_redeem_hands_over_what_the_grant_did() -> None:
    scenario = backed_up().when(reminder())
    granted = scenario.granted_now().body
    scenario.when(redeem(LAST, "a1")).then(
        status=200,
        body={name: granted[name] for name in ("message_id", "send_token")},
    )


def test_a_token_names_the_send_keys_and_no_more() -> None:
    body = sent_and_lost(payment_failed("evt_1", "att_1"))
    proof = proof_in_token(SECRET, body["send_token"])
    keys: list[sendkey.SendKey] = [
        ("payment-event", "inv_1", "evt_1"),
        ("payment-attempt", "inv_1", "att_1"),
    ]
    assert isinstance(proof, MailProof)
    assert proof.permit_id == body["permit_id"]
    assert proof.imprint is not None
    assert proof.imprint.digests == tuple(IDENTITY.key_digest(key) for key in keys)


def test_every_kind_has_its_own_letter() -> None:
    assert len({kind.code for kind in KINDS.values()}) == len(KINDS)


def test_an_apology_of_a_lost_permit_is_the_only_one_for_a_while() -> None:
    body = sent_and_lost(apology())
    later = replace(_INCIDENT, incident_id="F2")
    scenario = resumed(restored().when(told(body)))
    scenario.when(later, apology(incident="F2")).then(status=409, code="apology_already_sent")


@ASKED
def test_without_what_its_key_is_made_of_a_kind_is_not_told(kind: str) -> None:
    with pytest.raises(ValueError, match=f"a mail of kind {kind} needs "):
        KINDS[kind].from_sent({})
