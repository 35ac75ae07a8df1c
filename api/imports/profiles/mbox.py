"""A folder of sent mail as an mbox: the headers of each mail, and none of what is in it."""

import re
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.parser import BytesHeaderParser
from email.policy import compat32
from io import BufferedReader
from typing import Any

from api.imports.dates import Dates
from api.imports.profiles.profile import Fate, Head, Told
from api.imports.rows import RawRow
from ledger.domain.send_imprint import SEND_HEADER

_SEPARATOR = re.compile(rb"From \S.*\d\d:\d\d.*\d{4}\s*", re.ASCII)
_FULL_SEPARATOR = re.compile(
    rb"From \S.* (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d(?::\d\d)? "
    rb"(?:.* )?\d{4}(?: [+-]\d{4})?\s*",
    re.ASCII,
)
"""What parts mails also where no empty line stands before it, if a header follows."""
_HEADER = re.compile(rb"[!-9;-~]+:", re.ASCII)
_LONGEST_SEPARATOR = 1_000
_LONGEST_HEADER = 256 * 1024
_LONGEST_LINE = 64 * 1024
_RECIPIENTS = ("To", "Cc", "Bcc")
_WANTED = ("Date", "Message-ID", *_RECIPIENTS, "Resent-To", "X-Gmail-Labels", SEND_HEADER)

_SENT = frozenset(
    name.strip()
    for name in """Sent, Sent Mail, Gesendet, Envoyés, Messages envoyés, Enviados, Enviadas,
    Inviati, Posta inviata, Verzonden, Wysłane, Skickat, Sendt, Sendte, Lähetetyt, Odeslané,
    Odeslaná pošta, Отправленные, Надіслані, Gönderilmiş, Gönderilmiş Postalar, 送信済み, 已发送,
    已傳送, 寄件備份, 보낸편지함""".casefold().split(",")
)
"""Gmail's label of what was sent, in languages of its users."""


class Mbox:
    """RFC 4155; of a Google archive of all mail, what is labelled as sent."""

    name = "mbox"

    def knows(self, head: Head) -> bool:
        """Does it begin with the separator line of an mbox?"""
        first = head.lines[0].encode() if head.lines else b""
        return _SEPARATOR.fullmatch(first) is not None

    def rows(self, file: BufferedReader, kind: str, dates: Dates) -> Iterator[RawRow]:
        """A row for each mail, with the headers that matter."""
        parser = BytesHeaderParser(policy=compat32)
        header: list[bytes] | None = None
        number = start = size = 0
        before = b"\n"
        raw = file.readline(_LONGEST_LINE)
        while raw:
            after = file.readline(_LONGEST_LINE)
            number += raw.endswith(b"\n")
            if _parts(before, raw, after):
                if header is not None:
                    yield _row(start, parser, header, size)
                header, start, size = [], max(number, 1), 0
                in_header = True
            elif header is not None and in_header:
                in_header = bool(raw.strip(b"\r\n"))
                size += len(raw)
                if in_header and size <= _LONGEST_HEADER:
                    header.append(raw)
            before, raw = raw, after
        if header is not None:
            yield _row(start, parser, header, size)

    def told(self, row: RawRow) -> Told:
        """What a mail tells: in this folder all were sent."""
        found = row.columns
        labels = found.get("X-Gmail-Labels")
        sent = labels is None or any(map(_says_sent, _decoded(str(labels)).split(",")))
        recipients = found.get("Resent-To") or [
            found[name] for name in _RECIPIENTS if name in found
        ]
        message_id = found.get("Message-ID")
        fate = Fate.SENT if sent else Fate.OTHER
        return Told(
            fate,
            found.get("Date"),
            recipients,
            message_id,
            message_id=message_id,
            token=found.get(SEND_HEADER),
        )


def _parts(before: bytes, line: bytes, after: bytes) -> bool:
    """Does a mail begin behind this line, as the lines around it tell?"""
    if (
        not line.startswith(b"From ")
        or not before.endswith(b"\n")
        or len(line) > _LONGEST_SEPARATOR
    ):
        return False
    if not before.strip(b"\r\n") and _SEPARATOR.fullmatch(line):
        return True
    return bool(_FULL_SEPARATOR.fullmatch(line) and _HEADER.match(after))


def _decoded(header: str) -> str:
    """A header with its encoded words (RFC 2047) read; as it stands where they are damaged."""
    try:
        return str(make_header(decode_header(header)))
    except (HeaderParseError, LookupError, UnicodeDecodeError, ValueError):
        return header


def _says_sent(label: str) -> bool:
    return label.strip(' "').casefold() in _SENT


def _row(line: int, parser: BytesHeaderParser, header: list[bytes], size: int) -> RawRow:
    if size > _LONGEST_HEADER:
        return RawRow(line, {}, "its headers are longer than 256 KiB")
    mail: Any = parser.parsebytes(b"".join(header))
    columns = {}
    for name in _WANTED:
        values = [" ".join(str(value).split()) for value in mail.get_all(name, [])]
        if values:
            columns[name] = ", ".join(values) if name in _RECIPIENTS else values[0]
    return RawRow(line, columns)


MBOX = Mbox()
