"""One mailbox has one window, whoever names its owner, by id or address, in whatever order (D9)."""

import itertools
from datetime import date
from typing import Any

import pytest

from ledger.application.commands import CallPause, Erase
from ledger.application.kinds.digest import Digest
from ledger.application.kinds.follow_up import FollowUp
from tests.support.build import (
    OPERATOR,
    address,
    ask,
    at,
    customer,
    customer_hold,
    fact,
    hours,
    intent,
    invoice,
    merged,
    message,
    minutes,
    notification,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.given import given

PAT, KIM = "pat@x.example", "kim@x.example"
OURS = "00000000-0000-0000-0000-000000000001"
"""The permit that a scenario grants first."""
KNOWN_BY_PAT = f"adr_{address(PAT).fingerprint}"


def to_address(n: int, to: str = PAT) -> Any:
    """A mail to somebody of whom nothing but the address is told."""
    return notification(f"a{n}", customer=None, to=to)


def to_both(n: int, customer: str = "cus_1", to: str = PAT) -> Any:
    """A mail to somebody who is told by id and address."""
    return notification(f"b{n}", customer=customer, to=to)


def in_new_thread(n: int) -> Any:
    """A mail that begins a thread."""
    return intent(f"i{n}", thread=f"thr_{n}", customer="cus_1", to=PAT)


def numbered(n: int) -> Any:
    """A follow-up that begins a thread."""
    return ask(FollowUp(f"thr_f{n}", n, "cus_1", address(PAT)))


def of_the_day(n: int) -> Any:
    """A digest."""
    return ask(Digest(f"inb_{n}", date(2026, 1, 1), "cus_1", address(PAT)))


@pytest.mark.parametrize("named", [to_both, in_new_thread, numbered, of_the_day])
@pytest.mark.parametrize("pattern", list(itertools.product([True, False], repeat=3)))
def test_no_order_of_requests_lets_a_third_mail_out(named: Any, pattern: tuple[bool, ...]) -> None:
    asked = [named(n) if both else to_address(n) for n, both in enumerate(pattern, 1)]
    scenario = given()
    for request in asked[:2]:
        scenario.when(request).granted_now()
        scenario.when(report(), minutes(1))
    scenario.when(asked[2]).then(status=429, code="cap_reached", alerts=["breaker_opened"])
    for request in (to_address(8), named(9)):
        scenario.when(request).then(status=409, code="breaker_open", alerts=[])


def test_an_address_is_the_customers_from_the_first_grant_that_names_both() -> None:
    scenario = given(to_both(1)).granted_now()
    assert scenario.body["customer_id"] == "cus_1"
    assert scenario.events == [
        "Customer.Created",
        "Customer.AddressesObserved",
        "Customer.MailPermitted",
    ]
    scenario.when(report(), to_address(2)).granted_now()
    assert scenario.body["customer_id"] == "cus_1"
    assert scenario.aggregate("customer", "cus_1").addresses == (address(PAT).fingerprint,)
    scenario.when(report(), to_both(3, to="Pat@X.example")).then(status=429, code="cap_reached")


def test_a_request_that_names_both_makes_the_one_known_by_address_that_customer() -> None:
    scenario = given(to_address(1), report(), to_both(2)).granted_now()
    assert scenario.events[-4:] == [
        "Customer.Created",
        "Customer.MergedInto",
        "Customer.Absorbed",
        "Customer.MailPermitted",
    ]
    assert scenario.body["windows"]["outreach_24h"] == {"used": 2, "limit": 2}
    assert scenario.aggregate("customer", KNOWN_BY_PAT).merged_into == "cus_1"
    scenario.when(report(), to_address(3)).then(status=429, code="cap_reached")


def test_a_cap_that_two_reach_together_merges_them_and_opens_one_breaker() -> None:
    scenario = given(to_address(1), report(), to_address(2), report())
    scenario.when(to_both(3)).then(
        status=429,
        code="cap_reached",
        events=[
            "Customer.Created",
            "Customer.MergedInto",
            "Customer.Absorbed",
            "Customer.BreakerOpened",
        ],
        alerts=["breaker_opened"],
    )
    scenario.when(hours(25), to_address(4)).then(status=409, code="breaker_open", events=[])
    assert scenario.store.decisions[-1].customer_id == "cus_1"


def test_a_denied_request_claims_nothing() -> None:
    scenario = given(CallPause("all", "stop", "ann", OPERATOR))
    scenario.when(to_both(1)).then(status=409, code="paused", events=[])
    scenario.when(in_new_thread(1)).then(status=409, code="paused", events=[])
    assert scenario.store.contacts == {}
    assert [name for name in scenario.store.names if name[0] == "address"] == []


def test_a_denied_request_merges_nobody() -> None:
    scenario = given(to_address(1), report(), to_address(2, KIM), report())
    scenario.when(to_both(3, to="a@x.example"), to_both(4, to="b@x.example"), to_both(5))
    scenario.then(status=429, code="cap_reached")
    scenario.when(to_both(6, to=KIM)).then(status=409, code="breaker_open", events=[])
    scenario.when(to_address(7, KIM)).granted_now()
    assert scenario.body["customer_id"] == f"adr_{address(KIM).fingerprint}"


def test_requests_of_one_transaction_see_each_others_claims() -> None:
    for requests in (
        (to_address(1), to_both(2), to_address(3)),
        (to_both(1), to_address(2), to_both(3)),
        (to_both(1), to_both(2, "cus_2", KIM), to_address(3), to_address(4, KIM), to_both(5)),
    ):
        statuses = [answer.status for answer in given().submit(*requests)]
        assert statuses == [201] * (len(requests) - 1) + [429]


def test_what_was_sent_to_the_address_is_a_duplicate_for_the_id_named_with_it() -> None:
    scenario = given(notification("ord_9", customer=None, to=PAT), report())
    scenario.when(notification("ord_9", to=PAT)).then(status=409, code="already_sent")
    scenario = given(notification("ord_9", to=PAT), report())
    scenario.when(notification("ord_9", customer=None, to=PAT)).then(
        status=409, code="already_sent"
    )


def test_holds_and_breakers_come_along() -> None:
    scenario = given(to_address(1), customer_hold(KNOWN_BY_PAT))
    scenario.when(to_both(2)).then(status=409, code="on_hold")
    scenario.when(redeem()).then(status=409, code="revoked")
    scenario = given(to_address(1), to_address(2), to_address(3), hours(25))
    scenario.when(to_both(4)).then(status=409, code="breaker_open", alerts=[])
    scenario.when(notification("5")).then(status=409, code="breaker_open", events=[])


def test_a_permit_of_the_address_is_redeemed_and_lapses_after_the_merge() -> None:
    scenario = given(to_address(1), to_both(2))
    scenario.when(redeem("$1")).then(status=200)
    scenario.when(report("rejected", "$1"), report("rejected", "$2"), to_both(3)).granted_now()
    assert scenario.body["windows"]["outreach_24h"]["used"] == 1
    scenario = given(to_address(1), minutes(10), to_both(2)).granted_now()
    assert scenario.body["windows"]["outreach_24h"]["used"] == 1


def test_an_address_of_another_billing_customer_is_an_alert_and_no_merge() -> None:
    scenario = given(customer("cus_2", PAT))
    scenario.when(to_both(1)).then(
        status=201,
        events=["Customer.Created", "Customer.MailPermitted"],
        alerts=["shared_address"],
    )
    scenario.when(report(), to_both(2)).then(status=201, alerts=[])
    scenario.when(to_address(3)).granted_now()
    assert scenario.body["customer_id"] == "cus_2"


def test_the_first_of_two_ids_that_are_named_beside_an_address_has_it() -> None:
    scenario = given(to_both(1)).granted_now()
    scenario.when(to_both(2, customer="cus_2")).then(status=201, alerts=["shared_address"])
    scenario.when(to_address(3)).granted_now()
    assert scenario.body["customer_id"] == "cus_1"
    scenario.when(merged("cus_2", "cus_1"), to_address(4)).then(status=429, code="cap_reached")


def test_an_address_id_that_is_named_beside_a_customers_address_becomes_that_customer() -> None:
    for steps in (
        (customer("cus_1", KIM), to_address(1), to_both(2, KNOWN_BY_PAT, KIM)),
        (to_address(1), to_both(2, KNOWN_BY_PAT, KIM), customer("cus_1", KIM)),
    ):
        scenario = given(*steps)
        for request in (to_address(3), to_address(4, KIM), notification("5")):
            scenario.when(request)
            assert scenario.store.decisions[-1].customer_id == "cus_1"
            assert scenario.answer.status in (429, 409)


def test_two_addresses_of_one_customer_share_the_window() -> None:
    for steps in (
        (to_both(1), to_both(2, to=KIM)),
        (to_both(1), to_address(2, KIM), to_both(3, to=KIM)),
        (to_address(1), to_both(2, KNOWN_BY_PAT, KIM), customer("cus_1", PAT, KIM)),
    ):
        scenario = given(*steps)
        scenario.when(to_address(8), to_address(9, KIM), notification("10"))
        assert scenario.store.decisions[-1].code == "breaker_open"
        assert len(scenario.granted) == 2


def test_two_addresses_of_one_person_are_merged_once() -> None:
    scenario = given(to_address(1), to_both(2, KNOWN_BY_PAT, KIM))
    scenario.when(customer("cus_1", PAT, KIM)).then(
        result="applied",
        events=[
            "Customer.Created",
            "Customer.MergedInto",
            "Customer.Absorbed",
            "Customer.AddressesObserved",
        ],
    )


def test_a_known_thread_ignores_the_id_and_the_address() -> None:
    scenario = given(message(), to_address(1))
    scenario.when(intent(customer="cus_2", to=PAT)).then(
        status=201, events=["Thread.SendPermitted", "Customer.MailPermitted"]
    )
    assert scenario.aggregate("customer", KNOWN_BY_PAT).merged_into is None


def test_an_id_of_the_guard_check_is_refused_and_merges_nothing() -> None:
    scenario = given(to_address(1))
    scenario.when(to_both(2, "ledger-probe-1")).then(status=422, code="invalid_request", events=[])


def test_a_named_address_goes_behind_those_that_billing_tells_and_makes_no_news_stale() -> None:
    scenario = given(fact(customer("cus_1", "a@x.example"), "2025-12-01"), to_both(1), report())
    scenario.when(notification("2")).granted_now()
    assert scenario.body["to"] == "a@x.example"
    scenario.when(fact(customer("cus_1", "b@x.example"), "2025-12-31")).then(result="applied")
    scenario = given(to_both(1), report())
    scenario.when(fact(customer("cus_1", "b@x.example"), "2025-12-31")).then(result="applied")
    scenario.when(to_address(2)).granted_now()
    assert scenario.body["customer_id"] == "cus_1"


@pytest.mark.parametrize("direction", ["inbound", "outbound"])
def test_a_message_that_names_its_customer_says_whose_address_it_is(direction: str) -> None:
    end: dict[str, Any] = {"sender": PAT} if direction == "inbound" else {"recipient": PAT}
    told = message(direction=direction, **end)
    scenario = given(told, to_address(1), report(), intent("a"), report())
    scenario.when(to_address(2)).then(status=429, code="cap_reached")
    scenario = given(to_address(1), report(), to_address(2), report())
    scenario.when(told, intent("a")).then(status=429, code="cap_reached")
    unnamed = message(customer=None, direction=direction, **end)
    scenario = given(unnamed, to_address(1), report(), to_address(2), report(), told, intent("a"))
    scenario.then(status=429, code="cap_reached")


def test_a_machines_message_and_our_own_say_nothing_of_an_address() -> None:
    for told in (
        message(sender=PAT, automatic="Precedence marks it"),
        message(sender=PAT, ours=OURS),
        message(sender="us@x.example", recipient=PAT),
    ):
        scenario = given(notification(customer="cus_2"), told, to_address(1))
        assert scenario.granted[0] == OURS
        assert scenario.body["customer_id"] == KNOWN_BY_PAT


def test_a_thread_of_somebody_known_by_address_that_is_told_to_be_a_customers_makes_them_one() -> (
    None
):
    for begun in (message(customer=None, sender=PAT), intent("z", to=PAT)):
        scenario = given(begun, to_address(1), report(), message("<m2@example.com>"))
        assert scenario.aggregate("customer", KNOWN_BY_PAT).merged_into == "cus_1"
        scenario.when(to_address(2), report(), intent("a"), notification("3"))
        scenario.then(status=409, code="breaker_open")


def test_an_invoice_that_learns_its_customer_takes_the_one_known_by_its_address_along() -> None:
    late = at("2026-12-04")
    unnamed = (invoice("a", customer=None, email=PAT), invoice("b", customer=None, email=PAT))
    scenario = given(late, *unnamed, reminder("a"), report(), reminder("b"), report())
    scenario.when(invoice("a")).then(
        result="applied",
        events=["Customer.Created", "Invoice.Observed", "Customer.MergedInto", "Customer.Absorbed"],
    )
    scenario.when(notification("1")).then(status=429, code="cap_reached")
    scenario.when(reminder("b")).then(status=409, code="already_sent")
    other = given(late, invoice(email=PAT), invoice(customer="cus_2"), notification("1"))
    assert other.body["customer_id"] == "cus_1"


def test_an_address_stays_its_customers_after_it_is_erased_or_not_told_any_more() -> None:
    for step in (Erase("cus_1", "ann", OPERATOR), customer("cus_1", KIM)):
        scenario = given(to_both(1), report(), step, to_address(2), report())
        scenario.when(to_address(3)).then(status=429, code="cap_reached")


def made_up(n: int, **how: Any) -> Any:
    """A mail for one of many customers whom nobody knows, to the address of another one."""
    return notification("e", customer=f"fl_{n}", to=PAT, **how)


@pytest.mark.parametrize(
    "known", [(customer("cus_1", PAT),), (to_address(0), report("rejected")), ()]
)
def test_made_up_customers_carry_no_more_mails_to_a_mailbox_than_its_owner_may_have(
    known: tuple[Any, ...],
) -> None:
    scenario = given(*known)
    answers = scenario.submit(*(made_up(n, redeem=True) for n in range(30)))
    assert [answer.status for answer in answers].count(201) == 2


def test_a_mail_to_another_customer_s_address_counts_for_its_owner_as_a_copy_does() -> None:
    scenario = given(customer("cus_1", PAT)).when(made_up(1)).granted_now()
    assert scenario.body["customer_id"] == "fl_1"
    assert scenario.body["copies"] == [{"customer_id": "cus_1"}]
    scenario.when(redeem()).then(
        status=200, events=["Customer.MailRedeemed", "Customer.MailObserved"]
    )
    assert scenario.event("Customer.MailObserved").permit.customer_id == "cus_1"
    scenario.when(made_up(2, redeem=True)).granted_now()
    scenario.when(made_up(3)).then(status=429, code="cap_reached", events=[], alerts=[])
    assert scenario.body["detail"].startswith("the address of customer cus_1: ")
    scenario.when(to_both(4, customer="fl_1", to=KIM)).granted_now()
    scenario.when(notification("5")).then(status=429, code="cap_reached")
    scenario.when(hours(25), made_up(6)).then(status=409, code="breaker_open", events=[])


@pytest.mark.parametrize("named", [to_both, in_new_thread, numbered, of_the_day])
def test_a_hold_of_the_owner_of_an_address_binds_whoever_is_named_beside_it(named: Any) -> None:
    scenario = given(customer("cus_9", PAT), customer_hold("cus_9"))
    scenario.when(named(1)).then(status=409, code="on_hold", events=[])
    scenario = given(customer("cus_9", PAT), named(1)).when(minutes(1), customer_hold("cus_9"))
    scenario.when(redeem("$1")).then(status=409, code="revoked")


def test_of_two_mails_that_race_for_the_owner_s_last_place_one_goes() -> None:
    scenario = given(customer("cus_1", PAT), notification("0"), report(), made_up(1), made_up(2))
    scenario.when(redeem("$2")).then(status=200)
    scenario.when(redeem("$3")).then(status=409, code="revoked")


def test_two_who_share_an_address_on_record_have_windows_of_their_own() -> None:
    scenario = given(customer("cus_1", PAT), customer("cus_2", PAT))
    for n, name in enumerate(("cus_1", "cus_2", "cus_1", "cus_2")):
        scenario.when(notification(f"e{n}", customer=name, redeem=True), report()).then(status=200)
    assert len(scenario.granted) == 4


def test_replies_to_somebody_count_for_them_in_whichever_thread_they_wrote() -> None:
    scenario = given(customer("cus_1", PAT))
    for n in range(6):
        told = message(f"<m{n}@example.com>", thread=f"thr_{n}", customer=f"fl_{n}", sender=PAT)
        answer = reply(f"<m{n}@example.com>", thread=f"thr_{n}", redeem=True)
        scenario.when(told).when(answer)
    assert len(scenario.granted) == 5
    scenario.then(status=429, code="cap_reached", events=[])


def test_what_lapsed_for_the_owner_of_an_address_takes_no_place_from_a_reply() -> None:
    asked = [message(f"<m{n}@example.com>", sender=PAT, customer="cus_1") for n in range(5)]
    scenario = given(customer("cus_1", PAT), *asked)
    scenario.when(*(reply(f"<m{n}@example.com>") for n in range(5)), minutes(11))
    told = message("<m9@example.com>", thread="thr_9", customer="cus_2", sender=PAT)
    scenario.when(told, reply("<m9@example.com>", thread="thr_9")).granted_now()
    assert scenario.body["copies"] == [{"customer_id": "cus_1"}]
