"""What to do after a no: every code has a step, and none contradicts whether asking again helps."""

import pytest

from api.contract.problems import OTHER_REASONS
from ledger.domain.next_steps import NEXT_STEPS, Action
from ledger.domain.reasons import REASONS


def test_every_code_has_a_step_and_no_step_is_of_no_code() -> None:
    assert NEXT_STEPS.keys() == {*REASONS, *OTHER_REASONS} - {"internal_error"}


@pytest.mark.parametrize("code", sorted(REASONS))
def test_a_step_says_to_ask_again_only_where_that_may_help(code: str) -> None:
    action = NEXT_STEPS[code].action
    if REASONS[code].retryable:
        assert action in (Action.RETRY_AT, Action.FIX_REQUEST, Action.FIND_OUT)
    else:
        assert action is not Action.RETRY_AT


@pytest.mark.parametrize("code", sorted(NEXT_STEPS))
def test_a_step_is_one_short_sentence(code: str) -> None:
    sentence = NEXT_STEPS[code].sentence
    assert sentence[0].isupper()
    assert sentence.endswith(".")
    assert len(sentence) <= 80
