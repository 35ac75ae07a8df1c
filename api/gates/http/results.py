"""What became of each permit's mail, and the one answer to a call with several."""

from collections.abc import Sequence
from dataclasses import dataclass

from sendledger import Denied

from api.gates.fate import Fate, deciding, fate_of, how_many_have_it, words_of
from api.gates.http.call import Answer
from api.gates.http.item import Item
from api.gates.http.provider import Provider, Whole

_MOST_TOLD = 20
_AGAIN_AFTER = 5
"""Seconds that a program is asked to wait where the ledger does not say how many."""


@dataclass(frozen=True)
class Result:
    """What became of the mail to these recipients; `answer` is upstream's, if it gave one.

    `ends_all`: what upstream said is not about this mail, so the others need not be tried.
    """

    recipients: tuple[str, ...]
    fate: Fate
    code: str = ""
    text: str = ""
    answer: Answer | None = None
    ends_all: bool = False
    mail_id: str | None = None
    retry_after: float | None = None


def denied_result(recipients: tuple[str, ...], denied: Denied, how: str) -> Result:
    """The result of a denial; `how` is `reject` or `drop`."""
    original = denied.original
    mail_id = original.provider_message_id if original else denied.decision_id
    fate, text = fate_of(denied, how), words_of(denied)
    return Result(
        recipients, fate, denied.code, text, mail_id=mail_id, retry_after=denied.retry_after
    )


def later(recipients: tuple[str, ...], code: str, text: str) -> Result:
    """A result that the program may repeat."""
    return Result(recipients, Fate.LATER, code, text)


def whole(provider: Provider, item: Item, results: Sequence[Result]) -> Whole:
    """One mail's results, at least one, as one."""
    told = deciding(results)
    recipients = tuple(one for result in results for one in result.recipients)
    if not told:
        done = next(one for one in results if one.fate in (Fate.SENT, Fate.DROPPED))
        answer = done.answer or provider.accepted(item, done.mail_id or "")
        return Whole(recipients, done.fate, answer)
    first = told[0]
    if len(results) == 1 or first.ends_all:
        text, code = first.text, first.code
        answer = first.answer or refusal(provider, first.fate, code, text, first.retry_after)
    else:
        code, text = first.code, told_of(results)
        answer = refusal(provider, first.fate, code, text, first.retry_after)
    return Whole(recipients, first.fate, answer, code, text, first.mail_id)


def told_of(results: Sequence[Result] | Sequence[Whole]) -> str:
    """What a program hears of several recipients: how many have the mail, and why not all."""
    told = deciding(results)
    head = f"{how_many_have_it(results)} recipients have the mail; a repeat goes to none of them"
    lines = [f"{', '.join(one.recipients)}: {one.text}" for one in told[:_MOST_TOLD]]
    more = len(told) - len(lines)
    return "; ".join([head, *lines, *([f"and {more} more"] if more else [])])


def refusal(
    provider: Provider, fate: Fate, code: str, text: str, after: float | None = None
) -> Answer:
    """A no in the provider's form: for good, or 503 with a time after which to ask again."""
    if fate is not Fate.LATER:
        return provider.error(provider.denied, code, text)
    answer = provider.error(503, code, text)
    seconds = str(max(1, round(after if after is not None else _AGAIN_AFTER)))
    return Answer(answer.status, answer.body, {**answer.headers, "retry-after": seconds})
