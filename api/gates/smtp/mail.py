"""A mail as bytes: its headers are read and changed, everything else stays as the program wrote it.

The header fields of the gate are `X-Ledger-…`; what the gate adds is known to the ledger's
webhooks (`X-Ledger-Send`) and to people (`X-Ledger-Permit`).
"""

from collections.abc import Iterator, Mapping
from email.header import decode_header, make_header

from api.gates.carried import OWN_PREFIX
from api.gates.smtp.mime_digest import body_digest

_END = b"\r\n\r\n"


class Mail:
    """A mail that came in: `content` has CRLF at the end of every line."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        if _name(content.partition(b"\r\n")[0]):
            head, end, self._body = content.partition(_END)
            head = head if end else head.removesuffix(b"\r\n")
        else:
            head, self._body = b"", content.removeprefix(b"\r\n")
        self._fields = list(_fields(head))

    def all(self, name: str) -> list[str]:
        """The values of every field of that name, unfolded and decoded, in order."""
        wanted = name.lower()
        return [_text(raw) for found, raw in self._fields if found == wanted]

    def first(self, name: str) -> str | None:
        """The value of the first field of that name, None where there is none or it is empty."""
        return next((value for value in self.all(name) if value), None)

    def own(self) -> dict[str, list[str]]:
        """The values of the gate's own fields, by their names in lower case without the prefix."""
        found: dict[str, list[str]] = {}
        for name, raw in self._fields:
            if name.startswith(OWN_PREFIX):
                found.setdefault(name.removeprefix(OWN_PREFIX), []).append(_text(raw))
        return found

    def digest(self) -> bytes:
        """A digest of what a person would read, the subject left out."""
        return body_digest(self.content)

    def dressed(self, added: Mapping[str, str]) -> bytes:
        """The mail for upstream: without the gate's own fields, with these at its head."""
        lines = [_line(name, value) for name, value in added.items()]
        lines += [raw for name, raw in self._fields if not name.startswith(OWN_PREFIX)]
        return b"\r\n".join([*lines, b"", self._body])

    def stripped(self) -> bytes:
        """The mail without the gate's own fields."""
        return self.dressed({})


def _fields(head: bytes) -> Iterator[tuple[str, bytes]]:
    """Each field's name in lower case, and its lines with the folding."""
    lines: list[bytes] = []
    for line in head.split(b"\r\n") if head else ():
        if line[:1] in (b" ", b"\t") and lines:
            lines.append(line)
            continue
        if lines:
            yield _name(lines[0]), b"\r\n".join(lines)
        lines = [line]
    if lines:
        yield _name(lines[0]), b"\r\n".join(lines)


def _name(line: bytes) -> str:
    name, colon, _ = line.partition(b":")
    return name.strip().decode("ascii", "replace").lower() if colon else ""


def _text(raw: bytes) -> str:
    value = raw.partition(b":")[2].replace(b"\r\n", b"").strip()
    text = value.decode("utf-8", "replace")
    try:
        return str(make_header(decode_header(text))).strip()
    except (LookupError, UnicodeError, ValueError):
        return text


def _line(name: str, value: str) -> bytes:
    """A field; a long value is folded at its blanks (RFC 5322, section 2.2.3)."""
    assert value.isascii(), f"{name} cannot be a header field"
    assert value.isprintable(), f"{name} cannot be a header field"
    return f"{name}: {value}".encode().replace(b" ", b"\r\n ").replace(b":\r\n ", b": ", 1)
