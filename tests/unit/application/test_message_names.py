"""A message under several names: a mail system's own id, and the mail's Message-ID header."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from ledger.application.facts.thread_message import ThreadMessage
from tests.support.build import message, reply, report
from tests.support.given import given

OWN, HEADER = "msg_7", "<m7@example.com>"


def told(name: str, *aliases: str, thread: str = "thr_1", **fields: Any) -> ThreadMessage:
    """The message by its name there, and by the others that ride along."""
    told: ThreadMessage = message(name, thread=thread, **fields)
    return replace(told, aliases=aliases)


@pytest.mark.parametrize("first", [OWN, HEADER])
@pytest.mark.parametrize("again", [OWN, HEADER])
def test_a_reply_is_one_whichever_name_it_gives(first: str, again: str) -> None:
    scenario = given(told(OWN, HEADER))
    scenario.when(reply(first)).then(status=201)
    scenario.when(report(), reply(again)).then(status=409, code="already_replied")


@pytest.mark.parametrize(
    "order",
    [*permutations([told(OWN, HEADER), told(HEADER), told(OWN, HEADER, thread="thr_2")])],
)
def test_one_message_told_of_in_several_ways_is_one(order: tuple[ThreadMessage, ...]) -> None:
    scenario = given(order[0])
    for other in order[1:]:
        scenario.when(other).then(result="duplicate", events=[])
    scenario.when(reply(HEADER)).then(status=201)
    scenario.when(report(), reply(OWN)).then(status=409, code="already_replied")


def test_a_reply_given_under_the_first_name_counts_under_a_later_one() -> None:
    scenario = given(told(HEADER), reply(HEADER), report(), told(OWN, HEADER))
    scenario.when(reply(OWN)).then(status=409, code="already_replied")


def test_an_own_mail_is_known_by_its_header() -> None:
    ours = told(OWN, HEADER, direction="inbound")
    scenario = given(told("<other@example.com>"), replace(ours, ours="permit"))
    scenario.when(reply(OWN)).then(status=409, code="own_message")
