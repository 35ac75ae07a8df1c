"""Postfix: its lines in the mail log, joined by queue id; what went to other hosts was sent."""

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

_QUEUED = re.compile(r"(?P<id>[0-9A-Za-z]{5,20}): (?P<what>.*)", re.ASCII)
_MESSAGE_ID = re.compile(r"message-id=(<[^<>\s]+>|[^<>\s]+)", re.ASCII)
_FROM = re.compile(r"from=<([^>]*)>")
_TO = re.compile(r"to=<(?P<to>[^>]*)>, .*?relay=(?P<relay>[^,\s]+).*?\bstatus=(?P<status>[a-z]+)")
_PROGRAM = re.compile(r"postfix[^/\s]*(?:/\S+)?")
_ABROAD = frozenset({"smtp", "relay"})
"""They hand mail to other hosts; local, virtual, lmtp and pipe keep it in the house."""


class Postfix:
    """https://www.postfix.org/postconf.5.html#maillog_file and syslog's own forms"""

    name = "postfix"

    def knows(self, head: Head) -> bool:
        """Does one of the first lines come from a program of Postfix?"""
        lines = (syslog_line(1, line, Years(None)) for line in head.lines)
        return any(line and _PROGRAM.fullmatch(line.program) for line in lines)

    def rows(self, file: BufferedReader, kind: str, dates: Dates) -> Iterator[RawRow]:
        """A row for each attempt to deliver to a recipient."""
        mails, years = OpenMails(), Years(dates.year)
        is_known = False
        for number, raw in text_lines(file):
            line = syslog_line(number, raw, years)
            if line is None or not _PROGRAM.fullmatch(line.program):
                continue
            is_known = True
            queued = _QUEUED.fullmatch(line.text)
            if queued is None:
                continue
            queue_id, what = queued["id"], queued["what"]
            service = line.program.rpartition("/")[2]
            if what == "removed":
                mails.forget(queue_id)
            elif service == "cleanup" and (told := _MESSAGE_ID.search(what)):
                mails.note(queue_id, message_id=told[1])
            elif service == "qmgr" and (told := _FROM.match(what)):
                mails.note(queue_id, sender=told[1] or "<>")
            elif (told := _TO.match(what)) is not None:
                columns = {"time": line.at, "queue_id": queue_id, "service": service}
                yield RawRow(number, columns | told.groupdict() | mails.of(queue_id))
        if not is_known:
            raise nothing_found("Postfix", "syslog, journalctl and the logs of containers")

    def told(self, row: RawRow) -> Told:
        """What one attempt to deliver tells. An empty sender means a bounce report."""
        found = row.columns
        status, message_id = found["status"], found.get("message_id")
        fate = Fate.OTHER
        if status in ("bounced", "expired"):
            fate = Fate.FAILED
        elif status == "sent" and found["service"] in _ABROAD and found.get("sender") != "<>":
            fate = Fate.SENT
        at = found["time"]
        # Queue ids are given again: the day tells them apart where no Message-ID does.
        mail_id = message_id or f"{found['queue_id']} {at[:10]}"
        at = check_year(at) if fate is Fate.SENT else None
        return Told(fate, at, found["to"], mail_id, None, message_id)


POSTFIX = Postfix()
