"""The file of the SMTP gate: logins with their ledger keys, rules, TLS and bounds (TOML)."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from api.gates.gate_file import AnyGateFile, Count, Refused, Seconds, Secret, Table


class Login(Table):
    """A program: how it logs in, and the key that it asks the ledger with."""

    username: Annotated[str, Field(min_length=1, max_length=255)]
    password: Secret
    key: Secret
    refused: Refused = "reject"


class Upstream(Table):
    """How the gate speaks to the server that takes the mails.

    `tls`: `starttls` refuses a server without it, `implicit` begins with TLS (port 465), `none`
    never uses it. Without it: `none` for this machine, else `starttls`. `authorities` is a PEM file
    of whom to trust instead of the system's.
    """

    username: str | None = None
    password: Annotated[str | None, Field(repr=False)] = None
    tls: Literal["starttls", "implicit", "none"] | None = None
    authorities: Path | None = None
    seconds: Seconds = 120.0


class Bounds(Table):
    """The bounds of the gate: bytes, counts, and seconds."""

    message_bytes: Annotated[int, Field(ge=1024, le=200_000_000)] = 25_000_000
    recipients: Annotated[int, Field(ge=1, le=1000)] = 100
    connections: Count = 100
    idle_seconds: Seconds = 120.0
    transaction_seconds: Seconds = 600.0
    ledger_seconds: Seconds = 20.0


class GateFile(AnyGateFile):
    """The whole file."""

    gate: ClassVar[str] = "smtp"

    login: tuple[Login, ...] = ()
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
