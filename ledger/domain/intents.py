"""Intents of messages: which spellings are the same intent."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+")
_AGAIN = frozenset(
    "again another copy duplicate final new next once more repeat repeated resend resent retry "
    "retried second third try v version followup".split()
)
"""Words that make another try of an intent, not another intent."""


def core_of(intent: str) -> tuple[str, ...]:
    """What an intent is about: its words in any order and case, without numbers and repetition.

    `refund_notice_2`, `RefundNotice`, `notice-refund` and `refund_notice_retry` are about the same;
    empty for an intent that has no other words.
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", intent)
    words = (word.casefold() for word in _WORD.findall(apart))
    return tuple(sorted({_singular(word) for word in words if word not in _AGAIN}))


def similar_among(intent: str, others: Iterable[str]) -> str | None:
    """The first of the others that is about the same as the intent and is not it; None if none."""
    core = core_of(intent)
    if not core:
        return None
    return next((other for other in others if other != intent and core_of(other) == core), None)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
