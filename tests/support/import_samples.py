"""Reads a log the way `sends import` does, up to what its rows tell."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zoneinfo import ZoneInfo

from api.imports.dates import Dates
from api.imports.log_file import LogFile
from api.imports.profiles.profile import Fate, head_of
from api.imports.profiles.registry import guessed, profile
from api.imports.rows import BadRow
from api.imports.sends_log import Columns, Reading, log_rows, understood

SAMPLES = Path(__file__).parents[1] / "sent_logs"
IN_UTC = Reading(Columns(), "tests", Dates(ZoneInfo("UTC"), (), 2026))


def guess(raw: bytes) -> str | None:
    """The profile that is certain of the log."""
    found = guessed(head_of(LogFile(BytesIO(raw)).head()))
    return found and found.name


def told(raw: bytes, name: str | None = None, reading: Reading = IN_UTC) -> list[str]:
    """To whom each mail went, when, and its id; else what became of the row instead."""
    log = LogFile(BytesIO(raw))
    head = head_of(log.head())
    reading = replace(reading, profile=profile(name) if name else guessed(head))
    found = []
    for row in log_rows(log.opened(), head.kind, reading):
        try:
            what = understood(row, reading)
        except BadRow as error:
            found.append(f"{row.line}: {error}")
            continue
        if what.fate is not Fate.SENT:
            found.append(f"{row.line} {what.fate}")
        for mail in what.mails if what.fate is Fate.SENT else ():
            at = mail.data.at.isoformat(timespec="seconds").removesuffix("+00:00")
            found.append(f"{row.line} {mail.address or mail.data.customer_id} {at} {mail.mail_id}")
    return found
