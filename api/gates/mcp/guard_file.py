"""The file of the MCP guard: which tools send, and what their mails are (TOML)."""

import stat
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from api.contract.fields import Kind
from api.gates.error import GateError


class ToolRule(BaseModel):
    """What is known of one tool.

    `sends`: does it send mail? Left out, its name and its schema say so. `kind` and `fields` are
    those of a request; a text in `fields` may hold `{argument}`. `failed` says what is reported
    where the tool says that it failed: `rejected` only if it then certainly sent nothing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    sends: bool | None = None
    kind: Kind | None = None
    fields: dict[str, Any] = Field(default_factory=dict)
    failed: Literal["unknown", "rejected"] = "unknown"

    @model_validator(mode="after")
    def _fields_have_a_kind(self) -> "ToolRule":
        if self.fields and self.kind is None:
            raise ValueError("fields go with a kind")
        return self


class GuardFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    ledger: str | None = None
    key: Annotated[str | None, Field(repr=False)] = None
    fingerprint_secret: Annotated[str | None, Field(min_length=16, repr=False)] = None
    tool: dict[str, ToolRule] = Field(default_factory=dict)

    def rule(self, name: str) -> ToolRule:
        """What is known of the tool."""
        return self.tool.get(name) or ToolRule()


def read_guard_file(path: Path | None) -> GuardFile:
    """The file, an empty one where none is named. Raises GateError."""
    if path is None:
        return GuardFile()
    try:
        text = path.read_text(encoding="utf-8")
        is_private = not stat.S_IMODE(path.stat().st_mode) & 0o077
        file = GuardFile.model_validate(tomllib.loads(text))
    except (OSError, UnicodeDecodeError) as error:
        raise GateError(f"{path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise GateError(f"{path} is not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise GateError(f"{path}: {place or 'the file'}: {first['msg']}") from error
    if not is_private and (file.key or file.fingerprint_secret):
        raise GateError(f"{path} holds a secret and others may read it: chmod 600 {path}")
    return file
