"""Several provider events about one attempt to pay are one failure, and get one mail (D10)."""

import pytest

from ledger.application.facts.payment_failed_reported import PaymentFailed
from ledger.domain.payment_attempts import slots_of_failure
from tests.support.build import (
    OPERATOR,
    hours,
    invoice,
    payment_failed,
    redeem,
    report,
)
from tests.support.given import given


def told(event: str, attempt: str | None = "ch_1", invoice_id: str = "inv_1") -> PaymentFailed:
    """The provider's event about an attempt."""
    return PaymentFailed(invoice_id, event, attempt)


@pytest.mark.parametrize("early", [True, False], ids=["told before", "told after"])
@pytest.mark.parametrize("named", [None, "ch_1"])
def test_two_events_that_were_told_as_one_attempt_get_one_mail(
    early: bool, named: str | None
) -> None:
    facts = [told("evt_a"), told("evt_b")]
    before, after = (facts, []) if early else ([], facts)
    scenario = given(invoice(), *before, payment_failed("evt_a", named), report(), *after)
    scenario.when(payment_failed("evt_b")).then(status=409, code="already_sent")
    scenario.when(payment_failed("evt_b", "ch_1")).then(status=409, code="already_sent")
    scenario.when(payment_failed("evt_c")).granted_now()


def test_a_live_permit_for_one_event_holds_the_other_back() -> None:
    scenario = given(invoice(), told("evt_a"), told("evt_b"), payment_failed("evt_a"))
    scenario.when(payment_failed("evt_b")).then(status=409, code="permit_held")
    scenario.when(report("rejected"), payment_failed("evt_b")).granted_now()


def test_refusals_of_one_attempt_add_up_under_any_of_its_names() -> None:
    scenario = given(invoice(), told("evt_a"), told("evt_b"))
    for event in ("evt_a", "evt_b", "evt_a"):
        scenario.when(payment_failed(event), report("rejected"))
    scenario.when(payment_failed("evt_b")).then(status=409, code="on_hold")


def test_a_human_may_repeat_it_under_another_name() -> None:
    scenario = given(invoice(), told("evt_a"), told("evt_b"), payment_failed("evt_a"), report())
    scenario.when(payment_failed("evt_b", by=OPERATOR, override="act_1")).granted_now()
    scenario.when(report(by=OPERATOR), payment_failed("evt_b")).then(code="already_sent")


def test_attempts_and_other_invoices_stay_apart() -> None:
    scenario = given(invoice(), invoice("inv_2"), told("evt_a"), told("evt_b", "ch_2"))
    scenario.when(told("evt_c", "ch_1", "inv_2"), told("evt_d", None))
    scenario.when(payment_failed("evt_a"), report(), payment_failed("evt_b")).granted_now()
    scenario.when(hours(25), payment_failed("evt_c")).granted_now()
    scenario.when(payment_failed("evt_d")).granted_now()


@pytest.mark.parametrize("out", [(), ("sent",), ("unknown",)], ids=["redeemed", "sent", "unknown"])
@pytest.mark.parametrize("chained", [False, True], ids=["one attempt", "through a third event"])
def test_of_two_that_turn_out_to_be_one_only_the_first_is_redeemed(
    out: tuple[str, ...], chained: bool
) -> None:
    names = ("ch_1", "pi_1") if chained else (None, None)
    scenario = given(
        invoice(), payment_failed("evt_a", names[0]), payment_failed("evt_b", names[1])
    )
    facts = [told("evt_c"), told("evt_c", "pi_1")] if chained else [told("evt_a"), told("evt_b")]
    scenario.when(redeem("$1"), *(report(state, "$1") for state in out), *facts)
    scenario.when(redeem("$2")).then(status=409, code="revoked")
    assert scenario.permit("$2").state == "revoked"


def test_the_other_goes_out_where_the_first_did_not() -> None:
    scenario = given(invoice(), payment_failed("evt_a"), payment_failed("evt_b"))
    scenario.when(told("evt_a"), told("evt_b"), redeem("$1"), report("rejected", "$1"))
    scenario.when(redeem("$2")).then(status=200)
    apart = given(invoice(), payment_failed("evt_a"), payment_failed("evt_b"))
    apart.when(told("evt_a"), told("evt_b", "ch_2"), redeem("$1"), report("sent", "$1"))
    apart.when(redeem("$2")).then(status=200)


def test_a_humans_repeat_of_one_of_them_is_redeemed() -> None:
    scenario = given(invoice(), payment_failed("evt_a"), redeem(), report())
    scenario.when(payment_failed("evt_b", by=OPERATOR, override="act_1"))
    scenario.when(told("evt_a"), told("evt_b"), redeem(by=OPERATOR)).then(status=200)


@pytest.mark.parametrize(
    ("pairs", "asked", "slots"),
    [
        ({}, ("e1", None), ["event:e1"]),
        ({}, ("e1", "a1"), ["event:e1", "attempt:a1"]),
        ({"e1": ("a1",)}, ("e1", None), ["event:e1", "attempt:a1"]),
        ({"e2": ("a1",)}, ("e1", "a1"), ["event:e1", "attempt:a1", "event:e2"]),
        (
            {"e3": ("a2",), "e2": ("a1", "a2"), "e9": ("a9",)},
            ("e1", "a1"),
            ["event:e1", "attempt:a1", "event:e2", "event:e3", "attempt:a2"],
        ),
    ],
)
def test_names_are_one_through_each_other(
    pairs: dict[str, tuple[str, ...]], asked: tuple[str, str | None], slots: list[str]
) -> None:
    assert slots_of_failure(pairs, *asked) == tuple(slots)
