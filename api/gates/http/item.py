"""One mail as a call names it; several recipients may need several permits."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from api.gates.carried import OWN_PREFIX
from api.gates.fingerprint import normal_text
from api.gates.http.call import BadCall, Call
from api.gates.http.recipients import COMMAND_HEADERS, RECIPIENT_HEADERS, Addressed, plain


@dataclass(frozen=True)
class Item:
    """A mail. `headers` are those that it carries, without the gate's own, which `said` holds.

    `parts` is what a person would read, as bytes that are the same for the same mail. `rest` is the
    provider's own form of it. `path` is where it is handed over.
    """

    path: str
    sender: str
    addressed: Addressed
    subject: str
    headers: Mapping[str, str]
    said: Mapping[str, str]
    parts: tuple[bytes, ...]
    rest: Any

    def all(self, name: str) -> list[str]:
        """The values of every header field of that name."""
        wanted = name.lower()
        if wanted == "to":
            return [one.text for one in self.addressed.to]
        if wanted == "subject":
            return [self.subject]
        return [value for key, value in self.headers.items() if key.lower() == wanted]

    def first(self, name: str) -> str | None:
        """The value of the first field of that name, None where there is none or it is empty."""
        return next((value for value in self.all(name) if value), None)

    def own(self) -> dict[str, list[str]]:
        """The gate's own fields, by their names in lower case without the prefix."""
        return {name: [value] for name, value in self.said.items()}

    def digest(self) -> bytes:
        """A digest of what a person would read, the subject left out."""
        digest = hashlib.sha256()
        for part in self.parts:
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.digest()


class Fields:
    """Header fields, tags or variables of a call: those of the gate apart from the others."""

    def __init__(self, call: Call) -> None:
        self.said: dict[str, str] = {}
        self.headers: dict[str, str] = {}
        self._is_of_call = True
        for name, value in call.headers:
            self._own(name, value)
        self._is_of_call = False

    def header(self, name: object, value: object) -> None:
        """A header field that the mail shall carry. Raises BadCall."""
        if not isinstance(name, str) or not isinstance(value, str):
            raise BadCall("headers have names and texts")
        plain(name, "a header"), plain(value, "a header")
        if name.strip().lower() in RECIPIENT_HEADERS:
            raise BadCall("a header names recipients; name them in the fields of the call")
        if name.strip().lower() in COMMAND_HEADERS:
            raise BadCall("a header is a command to the provider; use the field of the call")
        if not self._own(name, value):
            self.headers[name] = value

    def tag(self, name: object, value: object) -> bool:
        """Is this tag, or variable, one of the gate's? It does not go on."""
        return isinstance(name, str) and isinstance(value, str) and self._own(name, value)

    def _own(self, name: str, value: str) -> bool:
        key = name.strip().lower()
        if not key.startswith(OWN_PREFIX):
            return False
        key = key.removeprefix(OWN_PREFIX)
        if self._is_of_call and key in self.said:
            raise BadCall(f"X-Ledger-{key.title()} is there twice")
        # What stands with the mail counts for it, what stands with the call for all its mails.
        self.said[key] = value.strip()
        return True


def text_parts(*texts: object, content_ids: Iterable[str] = ()) -> tuple[bytes, ...]:
    """Texts as they are compared; what is missing counts as such."""
    ids = list(content_ids)
    return tuple(b"\0" if one is None else normal_text(str(one), ids) for one in texts)


def data_part(value: Any) -> bytes:
    """Data, such as the variables of a template, in an order of its own."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("utf-8", "replace")
