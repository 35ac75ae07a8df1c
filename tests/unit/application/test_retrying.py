"""`retryable`, `available_at` and the next step of a denial never contradict each other."""

import json
from datetime import timedelta

import pytest

from api.contract.problems import OTHER_REASONS, problem_document
from ledger.application.answers import plain_problem, problem_body
from ledger.domain.next_steps import NEXT_STEPS, Action
from ledger.domain.reasons import REASONS, Denial
from tests.support.build import at
from tests.support.problems import check_consistent

NOW = at("2026-12-10")


@pytest.mark.parametrize("waits", [None, NOW + timedelta(hours=1)], ids=["no end", "an end"])
@pytest.mark.parametrize("code", REASONS)
def test_a_denial_of_every_code_says_one_thing(code: str, waits: object) -> None:
    denial = Denial(code, "why", available_at=NOW if waits else None)
    body = json.loads(problem_body(denial, None, {}))
    check_consistent(body)
    assert body["retryable"] is (REASONS[code].retryable or waits is not None)


@pytest.mark.parametrize("code", REASONS)
def test_a_time_that_only_a_human_needs_is_not_when_to_ask_again(code: str) -> None:
    body = json.loads(problem_body(Denial(code, "why", frees_at=NOW), None, {}))
    check_consistent(body)
    assert body["frees_at"] == "2026-12-10T00:00:00Z"
    assert "available_at" not in body


@pytest.mark.parametrize("code", [*REASONS, *OTHER_REASONS])
def test_a_problem_without_a_decision_says_one_thing(code: str) -> None:
    check_consistent(problem_document(code, "why")[1])
    if code in REASONS:
        check_consistent(json.loads(plain_problem(code, "why").body))


def test_what_is_to_be_tried_again_is_retryable_by_its_code() -> None:
    for code, step in NEXT_STEPS.items():
        if step.action is Action.RETRY_AT:
            assert problem_document(code, "")[1]["retryable"] is True, code
