"""The file of the SMTP gate: logins with their ledger keys, rules, TLS and bounds (TOML)."""

import hashlib
import re
import stat
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from sendledger import kinds

from api.contract.fields import Kind
from api.gates.error import GateError
from api.gates.kinds import KINDS

Refused = Literal["reject", "drop"]
"""What a program hears of a mail that is refused: 550, or 250 for one that repeats what is 550."""


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return text


_Pattern = Annotated[str, AfterValidator(_pattern)]
_Seconds = Annotated[float, Field(gt=0, le=3600)]
_Count = Annotated[int, Field(ge=1, le=100_000)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Login(_Table):
    """A program: how it logs in, and the key that it asks the ledger with."""

    username: Annotated[str, Field(min_length=1, max_length=255)]
    password: Annotated[str, Field(min_length=1, repr=False)]
    key: Annotated[str, Field(min_length=1, repr=False)]
    refused: Refused = "reject"


class Anonymous(_Table):
    """Programs that do not log in; `networks` are those that they may come from."""

    key: Annotated[str, Field(min_length=1, repr=False)]
    networks: tuple[str, ...] = ("127.0.0.0/8", "::1/128")
    refused: Refused = "reject"


class Rule(_Table):
    """What the mails are that it fits.

    `login` is a user name, `sender` and `recipient` are patterns with `*`, `subject` a regular
    expression that is looked for. `kind` and `fields` are those of a request; a text in `fields`
    may hold `{name}`, which the named groups of `subject` fill. The kind `unguarded` is no mail to
    a customer: the ledger is not asked.
    """

    login: str | None = None
    sender: str | None = None
    recipient: str | None = None
    subject: _Pattern | None = None
    kind: Kind | Literal["fingerprint", "unguarded"] | None = None
    fields: dict[str, Any] = Field(default_factory=dict)
    refused: Refused | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "Rule":
        if not (self.login or self.sender or self.recipient or self.subject):
            raise ValueError("a rule needs one of login, sender, recipient, subject")
        if self.kind is None and self.refused is None:
            raise ValueError("a rule says a kind, or what happens to refused mails")
        if self.fields and self.kind not in KINDS:
            raise ValueError("fields go with a kind of mail")
        if self.kind is not None and self.kind in KINDS:
            try:
                getattr(kinds, self.kind)(**self.fields)
            except TypeError as error:
                raise ValueError(str(error)) from None
        return self


class Tls(_Table):
    """The certificate that the gate shows, in PEM files."""

    certificate: Path
    private_key: Path | None = None


class Upstream(_Table):
    """How the gate speaks to the server that takes the mails.

    `tls`: `starttls` refuses a server without it, `implicit` begins with TLS (port 465), `none`
    never uses it. Without it: `none` for this machine, else `starttls`. `authorities` is a PEM file
    of whom to trust instead of the system's.
    """

    username: str | None = None
    password: Annotated[str | None, Field(repr=False)] = None
    tls: Literal["starttls", "implicit", "none"] | None = None
    authorities: Path | None = None
    seconds: _Seconds = 120.0


class Bounds(_Table):
    """The bounds of the gate: bytes, counts, and seconds."""

    message_bytes: Annotated[int, Field(ge=1024, le=200_000_000)] = 25_000_000
    recipients: Annotated[int, Field(ge=1, le=1000)] = 100
    connections: _Count = 100
    idle_seconds: _Seconds = 120.0
    transaction_seconds: _Seconds = 600.0
    ledger_seconds: _Seconds = 20.0


class GateFile(_Table):
    """The whole file."""

    ledger: str | None = None
    fingerprint_secret: Annotated[str | None, Field(min_length=16, repr=False)] = None
    login: tuple[Login, ...] = ()
    anonymous: Anonymous | None = None
    rule: tuple[Rule, ...] = ()
    tls: Tls | None = None
    upstream: Upstream = Upstream()
    bounds: Bounds = Bounds()

    @field_validator("login")
    @classmethod
    def _each_once(cls, logins: tuple[Login, ...]) -> tuple[Login, ...]:
        if len({login.username for login in logins}) != len(logins):
            raise ValueError("a user name is there twice")
        return logins

    @model_validator(mode="after")
    def _lets_somebody_in(self) -> "GateFile":
        if not self.login and self.anonymous is None:
            raise ValueError("name a [[login]], or [anonymous] for programs that do not log in")
        return self

    def fingerprint_key(self, ledger_key: str) -> bytes:
        """The key of the fingerprints of a login's mails: of the secret, else of its ledger key."""
        secret = self.fingerprint_secret or ledger_key
        return hashlib.sha256(f"send-ledger gate smtp\0{secret}".encode()).digest()


def read_gate_file(path: Path) -> GateFile:
    """The file. Raises GateError where others may read it, or something in it is wrong."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GateError(f"{path} cannot be read: {error}") from error
    if mode & 0o077:
        raise GateError(f"{path} holds keys and others may read it: chmod 600 {path}")
    try:
        return GateFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise GateError(f"{path} is not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise GateError(f"{path}: {place or 'the file'}: {first['msg']}") from error
