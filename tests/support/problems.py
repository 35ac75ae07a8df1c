"""What must hold in every problem document: its fields do not contradict each other."""

from collections.abc import Mapping
from typing import Any


def check_consistent(problem: Mapping[str, Any]) -> None:
    """Assert that a program which goes by any one of the fields does what the others say."""
    code, retryable = problem["code"], problem["retryable"]
    if problem.get("available_at") is not None:
        assert retryable, f"{code}: there is a time to ask again, and nobody may"
        assert problem.get("frees_at") is None, f"{code}: two times"
    if problem["next_action"] == "retry_at":
        assert retryable, f"{code}: it is to be tried again, and may not be"
    if problem["next_action"] in ("stop", "ask_human"):
        assert not retryable, f"{code}: it may be tried again, and is to be left alone"
    assert problem["next_step"], code
