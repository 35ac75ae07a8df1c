"""A permit that was granted here and is not known any more proves a restore (D13)."""

from typing import Any

import pytest

from ledger.application.commands import EnterRecovery
from tests.support.build import (
    IDENTITY,
    LAST,
    at,
    delivery,
    fact,
    invoice,
    message,
    redeem,
    reminder,
)
from tests.support.given import given

LOST = "4f5f6f7f-0000-4000-8000-000000000000"


def ours(permit_id: str) -> str:
    """Our Message-ID for a permit; the permit that it names is what counts."""
    return IDENTITY.message_id(permit_id)


@pytest.mark.parametrize(
    "told",
    [
        fact(delivery("delivered", "pm_1", permit=IDENTITY.permit_of(ours(LOST)))),
        fact(delivery("bounced", permit=IDENTITY.permit_of(ours(LOST)))),
        message(ours(LOST), ours=IDENTITY.permit_of(ours(LOST))),
    ],
    ids=["delivered", "bounced", "our own mail in a thread"],
)
def test_a_lost_permit_that_somebody_names_stops_everything(told: Any) -> None:
    scenario = given(at("2026-12-04"), invoice())
    scenario.when(told).then(alerts=["recovery_mode"])
    entered = scenario.event("Control.RecoveryEntered")
    assert LOST in entered.cause
    assert entered.import_from is None
    scenario.when(reminder()).then(status=409, code="recovery_mode")
    scenario.when(told).then(alerts=[])


def test_a_permit_that_is_known_proves_nothing() -> None:
    scenario = given(at("2026-12-04"), invoice(), reminder())
    mine = ours(scenario.granted[0])
    scenario.when(message(mine, ours=IDENTITY.permit_of(mine)))
    scenario.when(fact(delivery("delivered", "pm_1", permit=scenario.granted[0])))
    scenario.then(result="applied", alerts=[])
    assert scenario.aggregate("control", "ledger").recovery_since is None


def test_a_message_id_with_another_mac_proves_nothing() -> None:
    forged = ours(LOST).replace(".", ".0", 1)
    assert IDENTITY.permit_of(forged) is None
    scenario = given().when(message(forged, ours=IDENTITY.permit_of(forged)))
    scenario.then(result="applied", alerts=[])


def test_in_recovery_a_permit_that_is_not_known_may_have_been_lost() -> None:
    scenario = given(at("2026-12-04"), invoice())
    scenario.when(redeem(LOST)).then(status=404, code="unknown_permit")
    scenario.when(EnterRecovery("restored", None))
    scenario.when(redeem(LOST)).then(status=409, code="recovery_mode")


def test_a_permit_of_before_the_loss_is_not_redeemed_in_recovery() -> None:
    scenario = given(at("2026-12-04"), invoice(), reminder(), EnterRecovery("restored", None))
    scenario.when(redeem(LAST)).then(status=409, code="recovery_mode", events=[])
