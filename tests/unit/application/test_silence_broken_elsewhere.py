"""Follow-ups chase silence: an answer that got a thread of its own has broken it (ADR 0007)."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.build import AGENT, days, follow_up, hours, intent, message, redeem, report
from tests.support.given import Scenario, given
from tests.support.told import told


def chased(by: str = "the provider's") -> tuple[Scenario, str]:
    """A thread with our mail and follow-up 1; one of their Message-IDs, as mail systems see it."""
    scenario = given(intent("hello", "tf", customer="cus_1", by=AGENT), report(by=AGENT))
    scenario.when(days(1), follow_up(1, "tf", by=AGENT))
    name = str(scenario.body["message_id"])
    scenario.when(replace(report(by=AGENT), message_id="<p1@provider.example>"), hours(1))
    return scenario, name if by == "our Message-ID" else "<p1@provider.example>"


def elsewhere(reference: str, **how: Any) -> Any:
    """A message that came in under another thread id."""
    data = {"thread_id": "ticket-9", "message_id": "<a@pat.example>", "direction": "inbound"}
    data |= {"from": "pat@pat.example", "references": [reference]}
    return told("thread.message", data | how)


@pytest.mark.parametrize("by", ["our Message-ID", "the provider's"])
def test_an_answer_in_another_thread_ends_the_sequence(by: str) -> None:
    scenario, ours = chased(by)
    scenario.when(elsewhere(ours)).then(result="applied")
    scenario.when(days(2), follow_up(2, "tf")).then(status=409, code="answered")


@pytest.mark.parametrize("by", ["our Message-ID", "the provider's"])
def test_it_takes_back_a_step_that_was_granted_before(by: str) -> None:
    scenario, ours = chased(by)
    scenario.when(days(2), follow_up(2, "tf")).granted_now()
    scenario.when(elsewhere(ours), redeem()).then(status=409, code="revoked")


def test_an_answer_to_a_message_of_ours_that_was_told_of() -> None:
    scenario, _ = chased()
    scenario.when(message("<hand@us>", "tf", direction="outbound"), elsewhere("<hand@us>"))
    scenario.when(days(2), follow_up(2, "tf")).then(status=409, code="answered")


@pytest.mark.parametrize(
    "how",
    [
        {"headers": {"Auto-Submitted": "auto-replied"}},
        {"return_path": "<>"},
        {"direction": "outbound", "from": "us@us.example", "to": "pat@pat.example"},
        {"references": ["<of-another-thread@x>"]},
    ],
    ids=["out of office", "a report", "our own", "about something else"],
)
def test_what_is_no_persons_answer_ends_nothing(how: dict[str, Any]) -> None:
    scenario, ours = chased()
    scenario.when(elsewhere(ours, **how), days(2), follow_up(2, "tf")).granted_now()


def test_a_message_that_turns_out_to_be_a_machines_is_taken_back() -> None:
    scenario, ours = chased()
    machine = {"headers": {"Auto-Submitted": "auto-replied"}}
    scenario.when(elsewhere(ours), elsewhere(ours, **machine), days(2), follow_up(2, "tf"))
    scenario.granted_now()


def test_references_that_are_told_later_count() -> None:
    scenario, ours = chased()
    scenario.when(elsewhere(ours, references=[]), elsewhere(ours), elsewhere(ours))
    assert scenario.events.count("Thread.HeardElsewhere") == 1
    scenario.when(days(2), follow_up(2, "tf")).then(status=409, code="answered")
