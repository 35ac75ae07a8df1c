"""Suppression of addresses: whom it binds, what lifts it, and what a copy's bounce leaves alone."""

from dataclasses import replace

import pytest

from ledger.application.commands import Erase, ReleaseAddress
from ledger.application.facts.address_hold import AddressHoldTold
from ledger.application.facts.delivery import Delivery
from ledger.application.facts.fact import Fact
from ledger.domain.customer import Customer
from ledger.domain.hold import Span
from ledger.domain.identity import aggregate_id
from ledger.domain.mailbox import MOST_REASONS
from ledger.store.log.transcoding import write_state
from tests.support.build import (
    OPERATOR,
    address,
    at,
    customer,
    days,
    digest,
    hours,
    invoice,
    merged,
    notification,
    redeem,
    reminder,
    report,
)
from tests.support.given import Scenario, given
from tests.support.memory import StoredRow

BOX, COPY = "pat@x.example", "copy@x.example"
NAME = address(BOX).fingerprint
RELEASE = ReleaseAddress("cus_1", "ann", "the mailbox was full", OPERATOR)


def told(
    reason: str = "blocked",
    held: bool = True,
    kinds: tuple[str, ...] = (),
    until: str | None = None,
    box: str = BOX,
) -> AddressHoldTold:
    """A word on an address."""
    return AddressHoldTold(address(box), reason, held, at(until) if until else None, kinds)


def bounced(mail: str = "pm_1", recipient: str | None = None, event: str = "bounced") -> Delivery:
    """A provider's word on a mail, or on one recipient of it."""
    to = address(recipient) if recipient is not None else None
    return Delivery("mailgun", event, mail, recipient=to)


def mailed() -> Scenario:
    """A reminder was sent to a customer's address; the provider calls it pm_1."""
    return given(at("2026-12-04"), invoice(email=BOX), reminder(), redeem(), report(id="pm_1"))


def test_a_bounce_binds_every_customer_who_has_the_address() -> None:
    scenario = mailed().when(bounced(), invoice("inv_2", "cus_2", email=BOX))
    scenario.when(reminder("inv_2")).then(status=409, code="address_on_hold", events=[])
    assert scenario.body["retryable"] is False
    scenario.when(RELEASE).then(result="applied", events=["Address.AddressReleased"])
    scenario.when(reminder("inv_2")).granted_now()


@pytest.mark.parametrize("reason", ["bounced", "complained", "blocked", "a lawsuit"])
def test_an_address_is_held_before_it_is_anybodys(reason: str) -> None:
    scenario = given(told(reason)).then(
        result="applied",
        events=["Address.Created", "Address.AddressHeld"],
        alerts=["address_on_hold"] if reason in ("bounced", "complained") else [],
    )
    scenario.when(notification(customer=None, to=BOX)).then(status=409, code="address_on_hold")
    scenario.when(notification(customer="cus_9", to=BOX)).then(status=409, code="address_on_hold")
    scenario.when(told(reason, held=False)).then(result="applied")
    scenario.when(notification(customer=None, to=BOX)).granted_now()


def test_a_hold_binds_the_kinds_that_it_names_until_its_end() -> None:
    scenario = given(customer("cus_1", BOX), told("unsubscribed", True, ("digest",), "2026-01-03"))
    scenario.when(digest()).then(
        status=409, code="on_hold", body={"available_at": "2026-01-03T00:00:00Z"}
    )
    scenario.when(notification()).granted_now()
    scenario.when(at("2026-01-03"), digest()).granted_now()


def test_a_suppression_comes_after_an_unsubscription_and_names_its_end() -> None:
    scenario = given(customer("cus_1", BOX), told("blocked", True, (), "2026-01-03"))
    scenario.when(digest()).then(
        status=409, code="address_on_hold", body={"available_at": "2026-01-03T00:00:00Z"}
    )
    scenario.when(told("unsubscribed"), digest()).then(status=409, code="on_hold")


def test_words_come_in_any_order_and_none_is_dated_ahead() -> None:
    lifted = Fact(told("unsubscribed", held=False), "", None, at("2026-01-01T10:00Z"))
    held = Fact(told("unsubscribed"), "", None, at("2026-01-01T09:00Z"))
    scenario = given(customer("cus_1", BOX), at("2026-01-01T12:00Z"), lifted)
    scenario.when(held).then(result="stale", events=[])
    scenario.when(digest()).granted_now()
    ahead = Fact(told("unsubscribed"), "", None, at("2062-01-01"))
    scenario.when(ahead).then(result="applied")
    scenario.when(hours(1), told("unsubscribed", held=False)).then(result="applied")
    scenario.when(notification()).granted_now()


def test_a_release_lifts_all_but_the_owners_own_wish() -> None:
    scenario = given(customer("cus_1", BOX), told("bounced"), told("blocked", kinds=("digest",)))
    scenario.when(told("unsubscribed", kinds=("digest",)))
    scenario.when(RELEASE).then(result="applied", events=["Address.AddressReleased"] * 2)
    scenario.when(notification()).granted_now()
    scenario.when(digest()).then(status=409, code="on_hold")


def test_a_release_of_one_address_leaves_the_others() -> None:
    scenario = given(customer("cus_1", BOX, COPY), told("blocked"), told("blocked", box=COPY))
    scenario.when(replace(RELEASE, address=address(COPY))).then(
        result="applied", events=["Address.AddressReleased"]
    )
    scenario.when(notification("1", to=COPY)).granted_now()
    scenario.when(notification("2")).then(status=409, code="address_on_hold")
    scenario.when(RELEASE, notification("2")).granted_now()


def test_a_bounce_after_a_release_holds_again_and_pages_again() -> None:
    scenario = mailed().when(bounced(), RELEASE, bounced("pm_1"))
    scenario.when(notification()).then(status=409, code="address_on_hold")
    assert len(scenario.store.alerts) == 2


@pytest.mark.parametrize("early", [True, False])
def test_a_copys_bounce_is_the_copys(early: bool) -> None:
    scenario = given(at("2026-12-04"), invoice(email=BOX), reminder())
    if early:
        scenario.when(bounced(recipient=COPY)).then(alerts=["address_on_hold"])
        scenario.when(report("unknown", id="pm_1")).then(alerts=[])
    else:
        scenario.when(report(id="pm_1"), bounced(recipient=COPY)).then(alerts=["address_on_hold"])
    assert scenario.permit().state == "sent"
    assert scenario.aggregate("invoice", "inv_1").stages[(1, "day-3")].state == "sent"
    scenario.when(notification("1")).granted_now()
    scenario.when(days(1), notification("2", to=COPY)).then(status=409, code="address_on_hold")


def test_a_bounce_that_names_the_permits_own_address_marks_the_stage() -> None:
    early = given(at("2026-12-04"), invoice(email=BOX), reminder(), redeem())
    early.when(bounced(recipient=BOX.upper()), report(id="pm_1"))
    for scenario in (early, mailed().when(bounced(recipient=BOX.upper()))):
        assert scenario.aggregate("invoice", "inv_1").stages[(1, "day-3")].state == "bounced"
        assert len(scenario.store.alerts) == 1


def test_an_early_bounce_of_a_named_recipient_is_not_told_again_after_a_release() -> None:
    scenario = given(customer("cus_1", BOX), notification(), bounced(recipient=BOX), RELEASE)
    scenario.when(report(id="pm_1")).then(status=200, events=["Customer.MailSettled"])
    scenario.when(notification("2")).granted_now()


def test_a_mail_past_the_ledger_holds_the_recipient_that_its_bounce_names() -> None:
    scenario = given(bounced("nobodys", BOX)).then(result="applied", alerts=["address_on_hold"])
    scenario.when(notification(customer=None, to=BOX)).then(status=409, code="address_on_hold")


def test_early_words_on_one_mail_are_bounded() -> None:
    scenario = given(*(bounced(recipient=f"p{n}@x.example") for n in range(60)))
    kept = scenario.store.names[("early_delivery", "pm_1")]
    assert len(kept.split("+")) == 50


def test_reasons_of_one_address_are_bounded() -> None:
    scenario = given(*(told(f"reason {n}") for n in range(MOST_REASONS)))
    scenario.when(told("one more")).then(result="rejected", events=[])
    scenario.when(told("reason 7", held=False)).then(result="applied")


def test_the_events_tell_a_read_model_how_long_reminders_are_held() -> None:
    scenario = given(told("unsubscribed", True, ("digest",)))
    assert scenario.event("Address.AddressHeld").unsubscribed == Span()
    scenario.when(told("unsubscribed", True, ("reminder",), "2026-02-01"))
    assert scenario.event("Address.AddressHeld").unsubscribed == Span(at("2026-02-01"))
    scenario.when(told("bounced"))
    assert scenario.event("Address.AddressHeld").suppressed == Span(None, True)
    scenario.when(told("bounced", held=False))
    released = scenario.event("Address.AddressReleased")
    assert (released.suppressed, released.unsubscribed) == (Span(), Span(at("2026-02-01")))


def test_what_an_address_is_held_for_outlives_an_erasure_and_a_merge() -> None:
    scenario = mailed().when(bounced(), Erase("cus_1", "ann", OPERATOR), merged("cus_1", "cus_2"))
    scenario.when(customer("cus_2", BOX), notification(customer="cus_2"))
    scenario.then(status=409, code="address_on_hold")


@pytest.mark.parametrize("reason", ["bounced", "unsubscribed"])
def test_a_hold_since_the_grant_revokes(reason: str) -> None:
    scenario = given(customer("cus_1", BOX), notification(), told(reason, kinds=("notification",)))
    scenario.when(redeem()).then(status=409, code="revoked")
    other_kind = given(customer("cus_1", BOX), notification(), told(reason, kinds=("digest",)))
    other_kind.when(redeem()).then(status=200)


def test_a_permit_goes_to_the_preferred_address_of_now_or_nowhere() -> None:
    scenario = given(customer("cus_1", BOX), notification(), customer("cus_1", COPY, BOX))
    scenario.when(redeem()).then(status=409, code="revoked")
    removed = given(customer("cus_1", BOX), notification(), customer("cus_1"))
    removed.when(redeem()).then(status=409, code="revoked")
    erased = given(customer("cus_1", BOX), notification(), Erase("cus_1", "ann", OPERATOR))
    erased.when(redeem()).then(status=409, code="revoked")


def test_a_named_address_is_right_until_the_customer_loses_it() -> None:
    named = notification(to=COPY)
    kept = given(customer("cus_1", BOX), named, customer("cus_1", BOX, COPY))
    kept.when(redeem()).then(status=200)
    lost = given(customer("cus_1", BOX), named, customer("cus_1", BOX))
    lost.when(redeem()).then(status=409, code="revoked")


def test_a_merge_leaves_a_permit_to_an_address_that_is_still_theirs() -> None:
    scenario = given(customer("cus_1", BOX), customer("cus_2", COPY), notification())
    scenario.when(merged("cus_1", "cus_2"), redeem()).then(status=200)


def test_a_corrected_currency_takes_back_a_mail_and_its_repeat() -> None:
    scenario = mailed().when(days(1), reminder(override="again"))
    scenario.when(invoice(email=BOX, currency="EUR"), redeem()).then(status=409, code="revoked")


def test_a_hold_on_a_customer_from_before_stays_for_them_and_can_be_lifted() -> None:
    scenario = given(customer("cus_1", BOX))
    own = aggregate_id("customer", "cus_1")
    version = scenario.aggregate("customer", "cus_1").version + 1
    old = Customer.AddressHeld(
        originator_id=own,
        originator_version=version,
        timestamp=scenario.store.now,
        fingerprint=NAME,
        cause="a mail bounced",
    )
    row = StoredRow(own, version, old.TOPIC, write_state(old), scenario.store.now)
    scenario.store.rows.append(row)
    scenario.when(notification()).then(status=409, code="address_on_hold")
    scenario.when(notification(customer="cus_2", to="kim@x.example")).granted_now()
    scenario.when(RELEASE).then(result="applied", events=["Customer.AddressReleased"])
    scenario.when(notification()).granted_now()
