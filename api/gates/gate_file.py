"""What the files of all gates have in common: rules, TLS, who may come, and how they are read."""

import hashlib
import re
import stat
import tomllib
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from sendledger import kinds

from api.contract.fields import Kind
from api.gates.error import GateError
from api.gates.kinds import KINDS

Refused = Literal["reject", "drop"]
"""What a program hears of a mail that is refused: a no, or a yes for one that repeats for ever."""


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return text


_Pattern = Annotated[str, AfterValidator(_pattern)]
Seconds = Annotated[float, Field(gt=0, le=3600)]
Count = Annotated[int, Field(ge=1, le=100_000)]
Secret = Annotated[str, Field(min_length=1, repr=False)]


class Table(BaseModel):
    """A table of a file: no unknown names, and no secret in what is said of a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Anonymous(Table):
    """Programs that no login names; `networks` are those that they may come from."""

    key: Secret
    networks: tuple[str, ...] = ("127.0.0.0/8", "::1/128")
    refused: Refused = "reject"


class Rule(Table):
    """What the mails are that it fits.

    `login` is the name of one, `sender` and `recipient` are patterns with `*`, `subject` a regular
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


class Tls(Table):
    """The certificate that the gate shows, in PEM files."""

    certificate: Path
    private_key: Path | None = None


class AnyGateFile(Table):
    """What every gate's file may say."""

    gate: ClassVar[str]
    """The gate's name: two gates name one mail differently."""

    ledger: str | None = None
    fingerprint_secret: Annotated[str | None, Field(min_length=16, repr=False)] = None
    anonymous: Anonymous | None = None
    rule: tuple[Rule, ...] = ()
    tls: Tls | None = None

    def fingerprint_key(self, ledger_key: str) -> bytes:
        """The key of the fingerprints of a login's mails: of the secret, else of its ledger key."""
        secret = self.fingerprint_secret or ledger_key
        return hashlib.sha256(f"send-ledger gate {self.gate}\0{secret}".encode()).digest()


File = TypeVar("File", bound=AnyGateFile)


def read_file(path: Path, kind: type[File]) -> File:
    """The file. Raises GateError where others may read it, or something in it is wrong."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GateError(f"{path} cannot be read: {error}") from error
    if mode & 0o077:
        raise GateError(f"{path} holds keys and others may read it: chmod 600 {path}")
    try:
        return kind.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise GateError(f"{path} is not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise GateError(f"{path}: {place or 'the file'}: {first['msg']}") from error
