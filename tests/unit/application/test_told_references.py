"""A message refers to what its fact names and to what its headers name (RFC 5322, 3.6.4)."""

from typing import Any

import pytest

from ledger.domain.mail_references import bounded_references, header_references
from ledger.domain.policy import Policy
from tests.support.build import AGENT, message, minutes, redeem, reply, report
from tests.support.given import Scenario, given
from tests.support.told import told

C1 = "<c1@x.example>"
WAYS: dict[str, dict[str, Any]] = {
    "the field": {"references": [C1]},
    "In-Reply-To": {"headers": {"In-Reply-To": C1}},
    "References, folded": {"headers": {"references": f"<c0@x.example>\r\n {C1}"}},
    "both, of two messages": {
        "headers": {"References": "<c0@x.example>", "IN-REPLY-TO": f"Your mail {C1}"}
    },
    "without brackets": {"headers": {"In-Reply-To": "c1@x.example"}},
    "the field names another": {"references": ["<z@z>"], "headers": {"In-Reply-To": C1}},
}


def by_hand(**how: Any) -> Any:
    data = {"thread_id": "thr_1", "message_id": "<hand@us.example>", "direction": "outbound"}
    return told("thread.message", data | {"to": "pat@example.com"} | how)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("early", [False, True], ids=["after", "before"])
def test_an_answer_by_hand_is_known_by_any_reference(way: str, early: bool) -> None:
    steps = [message(C1), by_hand(**WAYS[way])]
    scenario = given(*(reversed(steps) if early else steps))
    scenario.when(reply(C1)).then(status=409, code="already_replied")


@pytest.mark.parametrize("way", WAYS)
def test_it_takes_back_a_reply_that_was_granted(way: str) -> None:
    scenario = given(message(C1), reply(C1)).granted_now()
    scenario.when(by_hand(**WAYS[way]), redeem()).then(status=409, code="revoked")


@pytest.mark.parametrize("header", ["In-Reply-To", "References"])
def test_a_loop_is_tied_by_headers_alone(header: str) -> None:
    scenario, ours = Scenario(Policy()), "<z@z.example>"
    codes = []
    for number in range(7):
        data = {
            "thread_id": f"thr_{number}",
            "message_id": f"<d{number}@desk>",
            "direction": "inbound",
            "from": f"a{number}@d{number}.example",
            "headers": {header: ours},
        }
        ask = reply(f"<d{number}@desk>", f"thr_{number}", by=AGENT)
        scenario.when(told("thread.message", data), ask)
        codes.append(scenario.body.get("code"))
        ours = scenario.body.get("message_id", ours)
        if codes[-1] is None:
            scenario.when(report(by=AGENT))
        scenario.when(minutes(1))
    assert codes == [None] * 5 + ["loop_guard"] * 2


def test_headers_are_read_to_a_bound() -> None:
    assert header_references({}) == ()
    assert header_references({"In-Reply-To": "Joe's mail of Tuesday, joe@x.example"}) == ()
    many = [f"<{n}@x>" for n in range(150)]
    kept = bounded_references([*many, many[3]])
    assert (len(kept), kept[0], kept[1], kept[-1]) == (100, "<0@x>", "<51@x>", "<149@x>")
