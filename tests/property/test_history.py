"""Random histories of the whole ledger, in memory, against an independent model of the rules."""

import os
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings

from ledger.application.kinds.follow_up import FollowUp
from ledger.application.kinds.message import IntentMessage
from tests.support.build import address, ask
from tests.support.history import History

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
