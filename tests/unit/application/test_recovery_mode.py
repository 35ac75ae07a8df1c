"""In recovery mode nothing is granted or redeemed, whoever asks for whatever kind (D13)."""

from dataclasses import replace

import pytest

from ledger.application.commands import EnterRecovery
from tests.support.build import AGENT, LAST, OPERATOR, RECEIPTS, notification, redeem, reminder
from tests.unit.application.test_lost_sends import ASKED, KINDS_ASKED, backed_up, restored


@ASKED
def test_recovery_mode_grants_no_kind(kind: str) -> None:
    command = KINDS_ASKED[kind][0]
    restored().when(command).then(status=409, code="recovery_mode", events=[])


@pytest.mark.parametrize("kind", ["payment_failed", "notification", "digest", "message"])
def test_recovery_mode_grants_no_receipt_either(kind: str) -> None:
    command = replace(KINDS_ASKED[kind][0], caller=RECEIPTS)
    restored().when(command).then(status=409, code="recovery_mode", events=[])


@ASKED
def test_recovery_mode_grants_no_repeat_either(kind: str) -> None:
    command = replace(KINDS_ASKED[kind][0], caller=OPERATOR)
    again = notification("again", override="act_1", by=OPERATOR).override
    restored().when(replace(command, override=again)).then(status=409, code="recovery_mode")


@ASKED
def test_recovery_mode_grants_nothing_to_a_key_that_need_not_redeem(kind: str) -> None:
    command = replace(KINDS_ASKED[kind][0], caller=AGENT)
    restored().when(command).then(status=409, code="recovery_mode", events=[])


def test_recovery_mode_grants_no_claim() -> None:
    restored().when(reminder(claim=True)).then(status=409, code="recovery_mode")


def test_in_recovery_mode_no_attempt_hears_its_yes_again() -> None:
    scenario = backed_up().when(reminder(), redeem(LAST, "a1")).then(status=200)
    scenario.when(redeem(LAST, "a1")).then(status=200)
    scenario.when(EnterRecovery("restored", None))
    scenario.when(redeem(LAST, "a1")).then(status=409, code="recovery_mode", events=[])
