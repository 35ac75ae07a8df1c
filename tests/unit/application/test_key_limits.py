"""What an API key is limited to, and what a decision makes of it."""

from dataclasses import replace
from typing import Any

import pytest

from ledger.application.caller import Caller
from ledger.application.commands import RequestPermit
from ledger.application.key_limits import GoesWith, KeyLimits
from ledger.application.kinds.registry import KINDS
from tests.support.build import (
    LAST,
    OPERATOR,
    POLLER,
    address,
    at,
    customer,
    digest,
    follow_up,
    intent,
    invoice,
    merged,
    message,
    notification,
    payment_failed,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.given import Scenario, given

NOW = at("2026-12-10")
PAT, KIM = "pat@example.com", "kim@example.com"


def key(**limits: Any) -> Caller:
    """A sender's key with these limits."""
    return replace(POLLER, limits=KeyLimits.of(**limits))


def known() -> Scenario:
    """An invoice nine days past due and a thread of cus_1; cus_2 has an address of its own."""
    return given(
        at("2026-12-01"),
        invoice(email=PAT),
        invoice("inv_2", "cus_2", email=KIM),
        message(sender=PAT),
        message("<m2@x>", "thr_2", "cus_2", sender=KIM),
        NOW,
    )


ASKED: dict[str, RequestPermit] = {
    "reminder": reminder(),
    "payment_failed": payment_failed(),
    "reply": reply(),
    "notification": notification(),
    "digest": digest(),
    "follow_up": follow_up(),
    "message": intent(),
}
OF_ANOTHER: dict[str, RequestPermit] = {
    "reminder": reminder("inv_2"),
    "payment_failed": payment_failed(invoice_id="inv_2"),
    "reply": reply("<m2@x>", "thr_2"),
    "reply in the wrong thread": reply("<m2@x>", "thr_1"),
    "notification": notification(customer="cus_2"),
    "notification to an address": notification(customer=None, to=KIM),
    "notification to nobody's address": notification(customer=None, to="new@example.com"),
    "digest": digest(customer="cus_2"),
    "follow_up": follow_up(thread="thr_2"),
    "message": intent(thread="thr_2"),
    "message in a new thread": intent(thread="thr_9", customer="cus_2"),
    "message in a new thread to an address": intent(thread="thr_9", to=KIM),
    "another's address under the name": notification(to=KIM),
    "a made-up address under the name": notification(to="evil@attacker.example"),
    "the same in a thread": intent(thread="thr_9", customer="cus_1", to=KIM),
}


def test_a_key_without_any_has_none() -> None:
    assert KeyLimits.of() is None
    assert KeyLimits.of(reads_addresses=True) is None
    assert KeyLimits.of(reads_addresses=False) == KeyLimits(reads_addresses=False)
    assert POLLER.limits is None
    assert POLLER.reads_addresses


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("kind", ASKED)
def test_a_key_asks_only_for_its_kinds(kind: str, asked: str) -> None:
    scenario = known().when(replace(ASKED[asked], caller=key(kinds=[kind])))
    if asked == kind:
        scenario.granted_now()
    else:
        scenario.then(status=403, code="key_limit", events=[])


@pytest.mark.parametrize(
    ("limits", "may"),
    [
        ({"intents": ["refund_notice"]}, {"message", "reply", "follow_up"}),
        ({"intents": []}, {"message", "reply", "follow_up"}),
        ({"stages": ["day-3"]}, {"reminder"}),
        ({"stages": ["day-3"], "intents": ["x"]}, {"message", "reply", "follow_up", "reminder"}),
        ({"kinds": ["digest"], "intents": ["x"]}, {"digest"}),
        ({"customers": ["cus_1"]}, set(KINDS)),
        ({"reads_addresses": False}, set(KINDS)),
    ],
)
def test_what_kinds_a_limit_leaves(limits: dict[str, Any], may: set[str]) -> None:
    found = KeyLimits.of(**limits)
    assert found is not None
    left = {name for name, kind in KINDS.items() if found.allows_kind(name, kind.goes_with)}
    assert left == may
    assert found.allows_dunning() == ("reminder" in may)


def test_what_goes_with_a_limit() -> None:
    goes = {name: kind.goes_with for name, kind in KINDS.items() if kind.goes_with is not None}
    assert goes == {
        "reminder": GoesWith.STAGES,
        "message": GoesWith.INTENTS,
        "reply": GoesWith.INTENTS,
        "follow_up": GoesWith.INTENTS,
    }


def test_a_key_uses_only_its_intents() -> None:
    agent = key(intents=["refund_notice"])
    scenario = known().when(intent("copy", by=agent))
    scenario.then(status=422, code="unknown_intent", events=[])
    scenario.when(intent("refund_notice", by=agent)).granted_now()


def test_a_key_asks_only_for_its_stages() -> None:
    early, late = key(stages=["day-3"]), key(stages=["day-7"])
    scenario = known().when(reminder(stage="day-7", by=early))
    scenario.then(status=403, code="key_limit", events=[])
    scenario.when(reminder(by=early)).then(status=403, code="key_limit", events=[])
    assert scenario.body["withheld"] == [{"invoice_id": "inv_1", "code": "key_limit"}]
    scenario.when(reminder(by=late)).granted_now()
    assert scenario.body["items"][0]["stage"] == "day-7"


def test_an_invoice_whose_stage_is_not_the_keys_is_withheld() -> None:
    scenario = known().when(invoice("inv_3", due="2026-12-05"))
    scenario.when(reminder("inv_1", "inv_3", by=key(stages=["day-3"]))).granted_now()
    assert [item["invoice_id"] for item in scenario.body["items"]] == ["inv_3"]
    (withheld,) = scenario.body["withheld"]
    assert (withheld["invoice_id"], withheld["code"]) == ("inv_1", "key_limit")


@pytest.mark.parametrize("what", OF_ANOTHER)
def test_a_key_mails_only_its_customers(what: str) -> None:
    limited = key(customers=["cus_1"])
    scenario = known().when(replace(OF_ANOTHER[what], caller=limited))
    scenario.then(status=403, code="key_limit", events=[])
    assert "cus_2" not in str(scenario.body)


@pytest.mark.parametrize("asked", ASKED)
def test_a_key_mails_its_customers(asked: str) -> None:
    limited = key(customers=["cus_7", "cus_1"])
    known().when(replace(ASKED[asked], caller=limited)).granted_now()


def test_a_key_for_a_beginning_of_ids() -> None:
    limited = key(customers=["eu_*"])
    scenario = given(NOW, notification(customer="eu_1", to=PAT, by=limited)).granted_now()
    scenario.when(notification(customer="us_1", by=limited)).then(status=403, code="key_limit")
    scenario.when(notification(customer="EU_1", by=limited)).then(status=403, code="key_limit")
    scenario.when(notification("2", customer="eu_1", to=PAT, by=limited)).granted_now()


def test_a_customer_who_was_merged_is_the_one_whom_the_key_may_mail() -> None:
    limited = key(customers=["cus_1"])
    scenario = known().when(merged("cus_1", "cus_3"), notification(customer="cus_1", by=limited))
    assert scenario.granted_now().body["customer_id"] == "cus_3"
    scenario.when(notification("2", customer="cus_3", by=limited)).granted_now()


def test_one_who_is_known_by_an_address_is_not_taken_over() -> None:
    limited = key(customers=["cus_*"])
    scenario = given(NOW, notification(customer=None, to=PAT))
    scenario.when(notification("2", customer="cus_5", to=PAT, by=limited))
    scenario.then(status=403, code="key_limit", events=[])


def test_a_known_customer_gets_no_first_address_from_a_limited_key() -> None:
    limited = key(customers=["cus_1"])
    scenario = given(at("2026-12-01"), invoice(), NOW)
    scenario.when(notification(to="evil@attacker.example", by=limited))
    scenario.then(status=403, code="key_limit", events=[])


def test_copies_go_only_to_addresses_of_the_customer() -> None:
    limited = key(customers=["cus_1"])
    scenario = known().when(customer("cus_1", PAT, "b@example.com"))
    for others in ((KIM,), ("new@example.com",), ("b@example.com", KIM)):
        asked = replace(notification(by=limited), cc=tuple(address(text) for text in others))
        scenario.when(asked).then(status=403, code="key_limit", events=[])
    asked = replace(notification(by=limited), cc=(address("b@example.com"),))
    scenario.when(asked).granted_now()
    to_nobody = replace(notification(customer="cus_1x", by=limited), cc=(address(KIM),))
    scenario.when(to_nobody).then(status=403, code="key_limit", events=[])


def test_an_address_of_the_customer_may_be_named() -> None:
    limited = key(customers=["cus_1"])
    scenario = known().when(notification(to=PAT, by=limited)).granted_now()
    scenario.when(customer("cus_1", PAT, "b@example.com"))
    scenario.when(notification("2", to="b@example.com", by=limited)).granted_now()


def test_a_key_that_reads_no_addresses() -> None:
    blind = key(reads_addresses=False)
    scenario = known().when(reminder(by=blind)).granted_now()
    assert scenario.body["to"] is None
    scenario.when(redeem(by=blind)).then(status=200)
    assert scenario.body["to"] is None
    scenario.when(notification(by=POLLER)).granted_now()
    assert scenario.body["to"] == PAT


def test_a_key_with_limits_handles_its_own_permits_only() -> None:
    limited = replace(OPERATOR, limits=KeyLimits.of(intents=["refund_notice"]))
    scenario = known().when(notification(by=POLLER)).granted_now()
    scenario.when(redeem(by=limited)).then(status=403, code="forbidden", events=[])
    scenario.when(report(by=limited)).then(status=403, code="forbidden", events=[])
    scenario.when(redeem(LAST, by=OPERATOR)).then(status=200)
    scenario.when(intent(by=limited)).granted_now()
    scenario.when(redeem(by=limited), report(by=limited)).then(status=200)


@pytest.mark.parametrize(
    ("job", "may"),
    [
        ("poller", True),
        ("poller:eu", True),
        ("poller:", True),
        ("pollers", False),
        ("other", False),
        ("", False),
        ("other:poller", False),
    ],
)
def test_jobs_of_a_key_have_its_name(job: str, may: bool) -> None:
    assert KeyLimits(kinds=frozenset()).allows_job("poller", job) is may


def test_a_request_names_only_jobs_of_its_key() -> None:
    limited = key(kinds=["reminder"])
    scenario = known().when(reminder(by=limited, token=1))
    scenario.then(status=403, code="key_limit", events=[])


FEW = Caller(POLLER.key_id, "agent", frozenset({"send"}), limits=KeyLimits.of(customers=["test_*"]))
"""An agent's key for test customers; cus_2 has the address KIM on record."""
ELSEWHERE: dict[str, RequestPermit] = {
    "a snapshot's address": reminder("inv_9", facts=(invoice("inv_9", "test_0", email=KIM),)),
    "that of a failed payment": payment_failed(
        invoice_id="inv_9", facts=(invoice("inv_9", "test_0", email=KIM),)
    ),
    "a message's writer": reply(
        "<n@x>", "thr_9", facts=(message("<n@x>", "thr_9", "test_0", sender=KIM),)
    ),
    "a message's Reply-To": reply(
        "<n@x>",
        "thr_9",
        facts=(message("<n@x>", "thr_9", "test_0", sender="new@example.com", reply_to=KIM),),
    ),
    "a writer to a known customer": reply(
        "<n@x>", "thr_9", facts=(message("<n@x>", "thr_9", "test_1", sender=KIM),)
    ),
    "a stranger who wrote to a known customer": reply(
        "<n@x>", "thr_9", facts=(message("<n@x>", "thr_9", "test_1", sender="new@example.com"),)
    ),
    "a stranger in a known thread": reply(
        "<n@x>", "thr_1", facts=(message("<n@x>", "thr_1", "test_1", sender="new@example.com"),)
    ),
    "a known thread's other writer": reply("<k@x>", "thr_1"),
}


@pytest.mark.parametrize("how", ELSEWHERE)
def test_no_fact_leads_a_limited_keys_mail_to_an_address_of_another(how: str) -> None:
    scenario = known().when(customer("test_1", "t@example.com"))
    scenario.when(message("<t@x>", "thr_1", "test_1", sender="t@example.com"))
    scenario.when(message("<k@x>", "thr_1", None, sender=KIM))
    before = dict(scenario.store.contacts)
    scenario.when(replace(ELSEWHERE[how], caller=FEW))
    snapshots = ("a snapshot's address", "that of a failed payment")
    code = "riding_facts_refused" if how in snapshots else "key_limit"
    scenario.then(status=403, code=code, events=[])
    assert scenario.store.contacts == before
    assert KIM not in str(scenario.body)


def test_a_limited_keys_new_customer_may_bring_an_address_that_nobody_has() -> None:
    snapshot = invoice("inv_9", "test_0", email="new@example.com")
    scenario = known().when(reminder("inv_9", by=FEW, facts=(snapshot,))).granted_now()
    assert scenario.body["to"] == "new@example.com"
    told = message("<n@x>", "thr_9", "test_5", sender="five@example.com")
    scenario.when(reply("<n@x>", "thr_9", by=FEW, facts=(told,))).granted_now()
    assert scenario.body["to"] == "five@example.com"


def test_a_limited_key_answers_who_has_written_in_a_thread_of_its_customer() -> None:
    scenario = known().when(customer("test_1", "t@example.com"))
    scenario.when(message("<t@x>", "thr_1", "test_1", sender="t@example.com"))
    scenario.when(message("<c@x>", "thr_1", None, sender="colleague@example.com"))
    scenario.when(reply("<c@x>", "thr_1", by=FEW)).granted_now()
    assert scenario.body["to"] == "colleague@example.com"
    told = message("<t2@x>", "thr_1", "test_1", sender="t@example.com")
    scenario.when(reply("<t2@x>", "thr_1", by=FEW, facts=(told,))).granted_now()
    assert scenario.body["to"] == "t@example.com"


def test_an_address_that_two_customers_have_is_on_record_for_both() -> None:
    scenario = known().when(invoice("inv_9", "test_1", email=KIM))
    scenario.when(reminder("inv_9", by=FEW)).granted_now()
    assert scenario.body["to"] == KIM
