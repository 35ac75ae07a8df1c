"""The file of the HTTP gate: provider keys with their ledger keys, rules, bounds (TOML)."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, field_validator, model_validator

from api.gates.gate_file import AnyGateFile, Count, Refused, Seconds, Secret, Table
from api.gates.http.registry import PROVIDERS


def _provider(name: str) -> str:
    if name not in PROVIDERS:
        raise ValueError(f"a provider is one of {', '.join(sorted(PROVIDERS))}")
    return name


_Provider = Annotated[str, AfterValidator(_provider)]


class Login(Table):
    """A program: the SHA-256 of its provider key, and the key that it asks the ledger with."""

    name: Annotated[str, Field(min_length=1, max_length=255)]
    provider_key_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    key: Secret
    refused: Refused = "reject"


class Upstream(Table):
    """Where providers are; `url` by their names, such as that of a region.

    `authorities` is a PEM file of whom to trust instead of the usual ones.
    """

    url: dict[_Provider, Annotated[str, Field(pattern=r"^https?://[^/?#]+$")]] = Field(
        default_factory=dict
    )
    authorities: Path | None = None
    seconds: Seconds = 60.0


class Bounds(Table):
    """The bounds of the gate: bytes, counts, and seconds."""

    body_bytes: Annotated[int, Field(ge=1024, le=200_000_000)] = 40_000_000
    mails: Annotated[int, Field(ge=1, le=1000)] = 100
    recipients: Annotated[int, Field(ge=1, le=1000)] = 100
    connections: Count = 100
    idle_seconds: Seconds = 60.0
    call_seconds: Seconds = 300.0
    ledger_seconds: Seconds = 20.0


class HttpGateFile(AnyGateFile):
    """The whole file."""

    gate: ClassVar[str] = "http"

    login: tuple[Login, ...] = ()
    upstream: Upstream = Upstream()
    bounds: Bounds = Bounds()
    fields: dict[_Provider, tuple[str, ...]] = Field(default_factory=dict)
    root: _Provider | None = None
    """Whose paths are those outside of every prefix, for libraries that take a host alone."""
    trusted_network: bool = False

    @field_validator("login")
    @classmethod
    def _each_once(cls, logins: tuple[Login, ...]) -> tuple[Login, ...]:
        if len({one.provider_key_sha256 for one in logins}) != len(logins):
            raise ValueError("a provider key is there twice")
        return logins

    @model_validator(mode="after")
    def _lets_somebody_in(self) -> "HttpGateFile":
        if not self.login and self.anonymous is None:
            raise ValueError("name a [[login]], or [anonymous] for all other provider keys")
        return self
