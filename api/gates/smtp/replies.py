"""What a program hears: the reply for each permit's mail, and the one reply for them all.

SMTP has one reply for all recipients of a mail. It is 250 only where every recipient has the mail;
a repeat by the program reaches only those who have it not (docs/adr/0019).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sendledger import Denied

_ASK_LATER = frozenset(
    {
        "already_redeemed",
        "expired",
        "forbidden",
        "outcome_unknown",
        "permit_held",
        "rate_limited",
        "revoked",
        "unauthorized",
    }
)
"""Codes that decide nothing about the mail yet: a repeat may be granted, or hear a final no."""
_MOST_LINES = 20
_MOST_TEXT = 400


class Fate(Enum):
    """What became of the mail of one permit."""

    SENT = "sent"
    """Upstream took it, just now."""
    HAD = "had"
    """It went out before."""
    DROPPED = "dropped"
    """It was refused, and the program is not told so."""
    REFUSED = "refused"
    """It was refused for good."""
    LATER = "later"
    """Nothing is decided, or nobody knows: the program may repeat it."""


@dataclass(frozen=True)
class Result:
    """What became of the mail to these recipients, and why in the words of a reply."""

    recipients: tuple[str, ...]
    fate: Fate
    code: int
    status: str
    text: str


def refused(recipients: tuple[str, ...], denied: Denied, how: str) -> Result:
    """The result of a denial; `how` is `reject` or `drop`."""
    text = f"{denied.code}: {denied.detail or denied.title}. {denied.next_step}"
    if denied.code in _ASK_LATER:
        return Result(recipients, Fate.LATER, 451, "4.7.1", text)
    if how == "drop":
        return Result(recipients, Fate.DROPPED, 250, "2.7.1", f"dropped, {text}")
    fate = Fate.HAD if denied.is_duplicate else Fate.REFUSED
    return Result(recipients, fate, 550, "5.7.1", text)


def later(recipients: tuple[str, ...], text: str, status: str = "4.3.0") -> Result:
    """A result that the program may repeat."""
    return Result(recipients, Fate.LATER, 451, status, text)


def reply_to(results: Sequence[Result]) -> str:
    """The reply to the data of a mail with these results, at least one."""
    if len(results) == 1:
        return _said(results[0].code, results[0].status, [results[0].text])
    deciding = [one for one in results if one.fate is Fate.LATER]
    deciding = deciding or [one for one in results if one.fate is Fate.REFUSED]
    done = [one for one in results if one.fate in (Fate.SENT, Fate.DROPPED)]
    if not deciding and not done:
        deciding = list(results)
    out = sum(len(one.recipients) for one in results if one.fate in (Fate.SENT, Fate.HAD))
    everybody = sum(len(one.recipients) for one in results)
    if not deciding:
        before = [one for one in results if one.fate is Fate.HAD]
        return _said(250, "2.0.0", [f"{out} of {everybody} have it", *map(_about, before)])
    first = deciding[0]
    code, status = (451, "4.7.1") if first.fate is Fate.LATER else (550, "5.7.1")
    said = f"{out} of {everybody} recipients have the mail; a repeat goes to none of them"
    return _said(code, status, [said, *map(_about, deciding)])


def _about(result: Result) -> str:
    return f"{', '.join(f'<{one}>' for one in result.recipients)}: {result.text}"


def _said(code: int, status: str, lines: Sequence[str]) -> str:
    """A reply of one or more lines (RFC 5321, section 4.2.1)."""
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f"and {len(lines) - _MOST_LINES + 1} more"]
    plain = [f"{status} {_plain(line)}" for line in lines]
    return "\r\n".join([*(f"{code}-{one}" for one in plain[:-1]), f"{code} {plain[-1]}"])


def _plain(text: str) -> str:
    ascii_text = text.encode("ascii", "backslashreplace").decode("ascii")
    return "".join(c if c.isprintable() else " " for c in ascii_text)[:_MOST_TEXT]
