"""Random histories of the whole ledger, in memory, against an independent model of the rules."""

import os
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings

from ledger.application.commands import Redeem, ReportOutcome
from ledger.application.facts.delivery import Delivery
from ledger.application.facts.fact import Fact
from ledger.application.kinds.digest import Digest
from ledger.application.kinds.follow_up import FollowUp
from ledger.application.kinds.message import IntentMessage
from tests.support.build import POLLER, address, ask
from tests.support.history import History
from tests.support.history_commands import START, fact_command

_DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
TestHistory = History.TestCase
TestHistory.settings = settings(
    max_examples=2_000 if _DEEP else 28,
    stateful_step_count=80 if _DEEP else 50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize(
    "subject", [FollowUp("thr_5", 1), IntentMessage("thr_5", "copy")], ids=["follow_up", "message"]
)
def test_a_held_send_with_another_address_is_refused_for_the_address(
    subject: FollowUp | IntentMessage,
) -> None:
    history = History()
    history.check([ask(replace(subject, customer_id="cus_2"))])
    history.check([ask(replace(subject, to=address("pat@x.example")))])
    history.check([ask(replace(subject, to=address("kim@x.example")))])
    assert len(history.model.holdings.permits) == 1
    history.teardown()


def test_a_grant_is_replayed_under_its_idempotency_key() -> None:
    history = History()
    for _ in range(2):
        history.check([ask(Digest("i1", START.date(), "cus_2"), key="K")])
    assert len(history.model.holdings.permits) == 1
    history.teardown()


def test_a_mail_keeps_the_first_id_of_the_provider() -> None:
    history = History()
    history.check([ask(Digest("i1", START.date(), "cus_2"), redeem=True)])
    first = history.asked[-1]
    history.check([ReportOutcome(first, "unknown", POLLER, "resend", "pm_1")])
    history.check([ReportOutcome(first, "sent", POLLER, "resend", "pm_2")])
    # The complaint is about a mail that no permit has named.
    history.check([fact_command(Fact(Delivery("resend", "complained", "pm_2")))])
    history.check([ask(Digest("i2", START.date(), "cus_2"))])
    second = history.asked[-1]
    history.check([Redeem(second, None, POLLER, "", b"{}")])
    history.check([ReportOutcome(second, "sent", POLLER, "resend", "pm_2")])
    states = [permit.state for permit in history.model.holdings.permits.values()]
    assert states == ["sent", "sent"]
    history.teardown()


def test_a_redeem_is_not_repeated_while_the_ledger_waits_after_a_restore() -> None:
    history = History()
    history.check([ask(Digest("i1", START.date(), "cus_2"))])
    again = Redeem(history.asked[-1], "a", POLLER, "", b"{}")
    history.check([again])
    history.check([again])
    history.recover()
    history.check([again])
    history.resume()
    history.check([again])
    assert [permit.state for permit in history.model.holdings.permits.values()] == ["redeemed"]
    history.teardown()
