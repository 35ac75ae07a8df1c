"""Exim: its main log, joined by its own message id; what went to other hosts was sent."""

import re
from collections.abc import Iterator
from io import BufferedReader

from api.imports.dates import Dates
from api.imports.profiles.mail_lines import (
    OpenMails,
    Years,
    check_year,
    nothing_found,
    syslog_line,
    text_lines,
)
from api.imports.profiles.profile import Fate, Head, Told
from api.imports.rows import RawRow

_ENTRY = (
    r"(?:\[\d+\] )?(?P<id>[0-9A-Za-z]{6}-[0-9A-Za-z]{6,11}-[0-9A-Za-z]{2,4}) "
    r"(?P<flag><=|=>|->|>>|\*>|\*\*|==|Completed)(?: (?P<rest>.*))?"
)
_PART = r"(?:\[\d+[/\\]\d+\] )?"
_LINE = re.compile(
    r"(?:.*?\bexim\S*: " + _PART + r")?"
    r"(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?(?: [+-]\d{4})?) " + _ENTRY,
    re.ASCII,
)
_BARE = re.compile(_PART + _ENTRY, re.ASCII)
"""By syslog with `syslog_timestamp = false`."""
_PROGRAM = re.compile(r"exim\S*")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_ID = re.compile(r"(?:^| )id=(\S+)")
_HOST = re.compile(r"(?:^| )H=\S")
_ORIGINAL = re.compile(r"\S+ <(?P<address>[^<>\s]+@[^<>\s]+)>")
_DELIVERED = frozenset({"=>", "->", ">>"})


class Exim:
    """https://www.exim.org/exim-html-current/doc/html/spec_html/ch-log_files.html"""

    name = "exim"

    def knows(self, head: Head) -> bool:
        """Is one of the first lines about a message, as the main log writes it?"""
        return any(_entry(1, line, Years(None)) for line in head.lines)

    def rows(self, file: BufferedReader, kind: str, dates: Dates) -> Iterator[RawRow]:
        """A row for each delivery, failure and delay."""
        mails, years = OpenMails(), Years(dates.year)
        is_known = False
        for number, raw in text_lines(file):
            found = _entry(number, raw, years)
            if found is None:
                continue
            (at, line), is_known = found, True
            exim_id, rest = line["id"], line["rest"] or ""
            if line["flag"] == "Completed":
                mails.forget(exim_id)
            elif line["flag"] == "<=":
                told = _ID.search(_QUOTED.sub("", rest))
                mails.note(exim_id, sender=rest.split(" ", 1)[0])
                if told is not None:
                    mails.note(exim_id, message_id=f"<{told[1].strip('<>')}>")
            else:
                columns = {"time": at, "exim_id": exim_id, "flag": line["flag"]}
                columns["to"] = _recipient(rest)
                columns["host"] = "H" if _HOST.search(_QUOTED.sub("", rest)) else ""
                yield RawRow(number, columns | mails.of(exim_id))
        if not is_known:
            raise nothing_found("Exim", "its main log, also by syslog")

    def told(self, row: RawRow) -> Told:
        """What a delivery tells. Reports of the mail system itself have the sender `<>`."""
        found = row.columns
        flag, message_id = found["flag"], found.get("message_id")
        fate = Fate.OTHER
        if flag == "**":
            fate = Fate.FAILED
        elif flag in _DELIVERED and found["host"] and found.get("sender") != "<>":
            fate = Fate.SENT
        mail_id = message_id or found["exim_id"]
        at = check_year(found["time"]) if fate is Fate.SENT else None
        return Told(fate, at, found["to"], mail_id, None, message_id)


def _entry(number: int, raw: str, years: Years) -> tuple[str, re.Match[str]] | None:
    """What a line tells of a mail, and when; None for another line."""
    dated = _LINE.fullmatch(raw)
    if dated is not None:
        return dated["at"], dated
    line = syslog_line(number, raw, years)
    if line is None or not _PROGRAM.fullmatch(line.program):
        return None
    bare = _BARE.fullmatch(line.text)
    if bare is not None:
        return line.at, bare
    dated = _LINE.fullmatch(line.text)
    return None if dated is None else (dated["at"], dated)


def _recipient(rest: str) -> str:
    """The address delivered to; the one it was sent to, where that is told behind it."""
    address = rest.split(" ", 1)[0].strip("<>")
    original = _ORIGINAL.match(rest)
    return original["address"] if original is not None and "@" not in address else address


EXIM = Exim()
