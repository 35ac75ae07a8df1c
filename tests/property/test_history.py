"""Random histories of the whole ledger, in memory, against an independent model of the rules."""

import os

from hypothesis import HealthCheck, settings

from tests.support.history import History

_DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
TestHistory = History.TestCase
TestHistory.settings = settings(
    max_examples=2_000 if _DEEP else 28,
    stateful_step_count=80 if _DEEP else 50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
