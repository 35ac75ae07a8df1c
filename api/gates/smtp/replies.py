"""What a program hears: the reply for each permit's mail, and the one reply for them all.

SMTP has one reply for all recipients of a mail. It is 250 only where every recipient has the mail;
a repeat by the program reaches only those who have it not (docs/adr/0019).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sendledger import Denied

from api.gates.fate import Fate, deciding, fate_of, how_many_have_it, words_of

_MOST_LINES = 20
_MOST_TEXT = 400


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
    fate, text = fate_of(denied, how), words_of(denied)
    if fate is Fate.LATER:
        return Result(recipients, fate, 451, "4.7.1", text)
    if fate is Fate.DROPPED:
        return Result(recipients, fate, 250, "2.7.1", f"dropped, {text}")
    return Result(recipients, fate, 550, "5.7.1", text)


def later(recipients: tuple[str, ...], text: str, status: str = "4.3.0") -> Result:
    """A result that the program may repeat."""
    return Result(recipients, Fate.LATER, 451, status, text)


def reply_to(results: Sequence[Result]) -> str:
    """The reply to the data of a mail with these results, at least one."""
    if len(results) == 1:
        return _said(results[0].code, results[0].status, [results[0].text])
    told, have_it = deciding(results), how_many_have_it(results)
    if not told:
        before = [one for one in results if one.fate is Fate.HAD]
        return _said(250, "2.0.0", [f"{have_it} have it", *map(_about, before)])
    code, status = (451, "4.7.1") if told[0].fate is Fate.LATER else (550, "5.7.1")
    said = f"{have_it} recipients have the mail; a repeat goes to none of them"
    return _said(code, status, [said, *map(_about, told)])


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
