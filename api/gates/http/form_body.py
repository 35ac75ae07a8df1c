"""Forms of calls: names with texts, and files; read whole, and written anew."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from api.gates.http.call import BadCall, Call

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

_MOST_FIELDS = 1000


@dataclass
class Form:
    """The fields of a form in order of their names, and its files: field, name, content, type."""

    fields: dict[str, list[str]] = field(default_factory=dict)
    files: list[tuple[str, tuple[str, bytes, str]]] = field(default_factory=list)

    def one(self, name: str) -> str | None:
        """The value of a field that may be there once. Raises BadCall."""
        found = self.fields.get(name, [])
        if len(found) > 1:
            raise BadCall(f"{name} is there twice")
        return found[0] if found else None


def form_of(call: Call) -> Form:
    """The form in the body. Raises BadCall."""
    content_type = call.header("content-type") or ""
    kind = content_type.partition(";")[0].strip().lower()
    form = Form()
    if kind == "application/x-www-form-urlencoded":
        try:
            pairs = parse_qsl(
                call.body.decode("utf-8"),
                keep_blank_values=True,
                strict_parsing=bool(call.body),
                errors="strict",
                max_num_fields=_MOST_FIELDS,
            )
        except ValueError:
            raise BadCall("the body is no form", 400) from None
        for name, value in pairs:
            form.fields.setdefault(name, []).append(value)
        return form
    if kind != "multipart/form-data":
        raise BadCall("the body is no form", 415)
    boundary = parse_options_header(content_type)[1].get(b"boundary")
    if not boundary:
        raise BadCall("the form has no boundary", 400)
    reading = _Reading(form)
    try:
        parser = MultipartParser(boundary, reading.callbacks())
        parser.write(call.body)
        parser.finalize()
    except (FormParserError, UnicodeDecodeError):
        raise BadCall("the body is no form", 400) from None
    if not reading.is_whole:
        raise BadCall("the body is no form: its end is missing", 400)
    return form


class _Reading:
    """Puts the parts of a multipart form into a Form, in memory."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self.is_whole = False
        self._parts = 0
        self._begin()

    def callbacks(self) -> "MultipartCallbacks":
        """What the parser calls."""
        return {
            "on_part_begin": self._begin,
            "on_part_data": lambda data, start, end: self._content.extend(data[start:end]),
            "on_part_end": self._end_part,
            "on_header_field": lambda data, start, end: self._name.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._end_header,
            "on_end": self._end,
        }

    def _begin(self) -> None:
        self._headers: dict[bytes, bytes] = {}
        self._name, self._value, self._content = bytearray(), bytearray(), bytearray()

    def _end_header(self) -> None:
        self._headers[bytes(self._name).lower()] = bytes(self._value)
        self._name, self._value = bytearray(), bytearray()

    def _end_part(self) -> None:
        self._parts += 1
        if self._parts > _MOST_FIELDS:
            raise BadCall(f"a form has {_MOST_FIELDS} fields at most", 413)
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        name = options.get(b"name", b"").decode("utf-8")
        if b"filename" not in options:
            text = bytes(self._content).decode("utf-8")
            self._form.fields.setdefault(name, []).append(text)
            return
        kind = self._headers.get(b"content-type", b"application/octet-stream").decode("latin-1")
        file = (options[b"filename"].decode("utf-8"), bytes(self._content), kind)
        self._form.files.append((name, file))

    def _end(self) -> None:
        self.is_whole = True
