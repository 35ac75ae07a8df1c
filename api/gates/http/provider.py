"""What the gate asks of a mail provider; each is one file in `providers/`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sendledger import Permit
from sendledger.adapters import http_mailer

from api.gates.fate import Fate
from api.gates.http.call import Answer, Call
from api.gates.http.item import Item
from api.gates.http.recipients import Addressed


@dataclass(frozen=True)
class Route:
    """A sending endpoint.

    `together` makes the answer of one that speaks of each mail by itself: from the call, what
    became of each mail, and what that is in one sentence.
    """

    name: str
    together: "Callable[[Call, Sequence[Whole], str], Answer] | None" = None

    @property
    def is_batch(self) -> bool:
        """Does the answer speak of each mail by itself?"""
        return self.together is not None


@dataclass(frozen=True)
class Outgoing:
    """One mail on its way: JSON, or a form with files (field, file name, content, type)."""

    path: str
    headers: Mapping[str, str]
    json: Any = None
    form: Mapping[str, list[str]] | None = None
    files: Sequence[tuple[str, tuple[str, bytes, str]]] = field(default=())


@dataclass(frozen=True)
class Whole:
    """What became of one mail to all its recipients; `answer` is what the program would hear.

    `mail_id` is the provider's id of a mail that went out before, as far as it is known.
    """

    recipients: tuple[str, ...]
    fate: Fate
    answer: Answer
    code: str = ""
    text: str = ""
    mail_id: str | None = None


@dataclass(frozen=True)
class Rules:
    """What the file says of reading calls: how many mails one may hold, which fields also pass."""

    most: int
    also: frozenset[str]


class Provider(Protocol):
    """A mail provider.

    `url` is its address, `prefix` its name in the gate's paths. `client` says what its answers
    prove. `passes` fits "METHOD /path" of calls that cannot send, `headers` are those that go on
    with every call, `denied` is the status of a refusal which its SDKs do not repeat.
    """

    name: str
    url: str
    passes: re.Pattern[str]
    headers: frozenset[str]
    denied: int

    @property
    def client(self) -> http_mailer.Provider:
        """The client's adapter."""
        ...

    def credential(self, call: Call) -> str | None:
        """The provider's key in the call, None where there is none."""
        ...

    def route(self, path: str) -> Route | None:
        """The sending endpoint at this path."""
        ...

    def items(self, route: Route, call: Call, rules: Rules) -> list[Item]:
        """The mails of a call, at least one. Raises BadCall."""
        ...

    def outgoing(
        self, item: Item, addressed: Addressed, carried: Mapping[str, str], permit: Permit | None
    ) -> Outgoing:
        """The mail to these recipients; `carried` is added to its headers."""
        ...

    def accepted(self, item: Item, mail_id: str) -> Answer:
        """The answer of a success, for a mail that was dropped."""
        ...

    def error(self, status: int, code: str, text: str) -> Answer:
        """An error in the provider's form."""
        ...
