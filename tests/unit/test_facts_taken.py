"""Many facts at once: one that cannot be decided does not stop the others (contract: Facts)."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from api.problems import ProblemError
from api.routes.facts import take_facts
from api.translate import Translator
from ledger.application import answers
from ledger.application.answers import Answer
from ledger.application.requests import Caller
from tests.support.build import IDENTITY

TELLER = Caller("key_1", "teller", frozenset({"facts"}))
APPLIED = Answer(200, b"{}", (), "applied", 7)
DEFECT = answers.plain_problem("internal_error", "the request could not be decided (KeyError)")


def _take(heard: list[Answer]) -> dict[str, Any]:
    """The results where the engine gives these answers."""

    async def submit_all(commands: list[Any]) -> list[Answer]:
        assert len(commands) == len(heard)
        return heard

    engine = SimpleNamespace(submit_all=submit_all, position=5)
    context: Any = SimpleNamespace(engine=engine, translator=Translator(IDENTITY))
    data = {"customer_id": "cus_1", "reason": "dispute"}
    events = [
        {"id": str(n), "source": "s", "type": "customer.hold", "data": data}
        for n in range(len(heard))
    ]
    return asyncio.run(take_facts(context, TELLER, events))


def test_a_fact_that_cannot_be_decided_does_not_stop_the_others() -> None:
    taken = _take([APPLIED, DEFECT, APPLIED])
    assert [r["result"] for r in taken["results"]] == ["applied", "rejected", "applied"]
    assert taken["results"][1]["detail"] == "the request could not be decided (KeyError)"
    assert taken["position"] == "7"


@pytest.mark.parametrize(
    ("heard", "code"),
    [
        (answers.unavailable("the queue is full"), "unavailable"),
        (answers.plain_problem("unauthorized", "the key was revoked"), "unauthorized"),
    ],
)
def test_what_stops_every_fact_is_told_of_all(heard: Answer, code: str) -> None:
    with pytest.raises(ProblemError) as raised:
        _take([APPLIED, heard])
    assert raised.value.code == code
