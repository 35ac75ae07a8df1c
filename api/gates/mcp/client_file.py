"""Edits the configuration file of an MCP client (JSON with `mcpServers`), and takes that back."""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from api.gates.error import GateError

OWN = "send-ledger"
"""The name of the ledger's own server."""
_MAILS = re.compile(
    r"mail|smtp|outlook|resend|postmark|sendgrid|commune|(?<![a-z])ses(?![a-z])", re.IGNORECASE
)
_GUARD = ["mcp", "guard", "--"]
_ENVIRON = ("LEDGER_URL", "LEDGER_KEY")
Servers = dict[str, dict[str, Any]]


def backup_of(path: Path) -> Path:
    """Where the file is kept as it was."""
    return path.with_name(f"{path.name}.before-send-ledger")


def install(path: Path, names: Iterable[str], environ: Mapping[str, str]) -> list[str]:
    """Add the ledger's server and guard those named, else those that look like e-mail servers.

    Returns the names of all guarded servers. The file as it was is kept beside it, once. Raises
    GateError, and then changes nothing.
    """
    whole, servers = _read(path)
    program, given = _program(), {name: environ[name] for name in _ENVIRON if environ.get(name)}
    wanted = list(names) or [name for name, one in servers.items() if _looks_like_mail(name, one)]
    for name in wanted:
        server = servers.get(name)
        if server is None:
            raise GateError(f"{path} has no server {name}")
        if not isinstance(server.get("command"), str):
            raise GateError(f"{name} is no server that is started by a command: it is not guarded")
        if not _is_guarded(server):
            arguments = [*_GUARD, server["command"], *server.get("args", [])]
            environment = {**server.get("env", {}), **given}
            servers[name] = {**server, "command": program, "args": arguments, "env": environment}
    servers[OWN] = {"command": program, "args": ["mcp"], "env": given}
    backup = backup_of(path)
    if not backup.exists():
        shutil.copy2(path, backup)
    _write(path, json.dumps(whole, indent=2, ensure_ascii=False) + "\n")
    return [name for name, one in servers.items() if _is_guarded(one)]


def undo(path: Path) -> list[str]:
    """Take back what `install` did, and leave what was changed since.

    Returns the names of the servers that are not guarded any more. Where nothing else was changed
    the file is byte by byte what it was, and its backup is gone. Raises GateError.
    """
    whole, servers = _read(path)
    freed = [name for name, one in servers.items() if _is_guarded(one)]
    for name in freed:
        server = servers[name]
        command, *arguments = server["args"][len(_GUARD) :]
        environment = {n: v for n, v in server.get("env", {}).items() if n not in _ENVIRON}
        servers[name] = {**server, "command": command, "args": arguments, "env": environment}
    if servers.get(OWN, {}).get("args") == ["mcp"]:
        del servers[OWN]
    backup = backup_of(path)
    before = backup.read_text(encoding="utf-8") if backup.exists() else None
    if before is not None and _plain(json.loads(before)) == _plain(whole):
        _write(path, before)
        backup.unlink()
    else:
        _write(path, json.dumps(whole, indent=2, ensure_ascii=False) + "\n")
    return freed


def _read(path: Path) -> tuple[dict[str, Any], Servers]:
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise GateError(f"{path} cannot be read: {error}") from error
    except ValueError as error:
        raise GateError(f"{path} is not JSON: {error}") from error
    servers = whole.get("mcpServers") if isinstance(whole, dict) else None
    if not isinstance(servers, dict) or not all(isinstance(o, dict) for o in servers.values()):
        raise GateError(f"{path} has no mcpServers: it is no configuration of an MCP client")
    return whole, servers


def _write(path: Path, text: str) -> None:
    """In one step, with the mode that the file has."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as new:
        new.write(text)
        new.flush()
        os.fsync(new.fileno())
    shutil.copymode(path, name)
    os.replace(name, path)


def _plain(whole: dict[str, Any]) -> dict[str, Any]:
    """The configuration without what makes no difference: empty arguments and variables."""
    servers = {
        name: {field: value for field, value in one.items() if value or field == "command"}
        for name, one in whole["mcpServers"].items()
    }
    return {**whole, "mcpServers": servers}


def _looks_like_mail(name: str, server: Mapping[str, Any]) -> bool:
    if name == OWN or not isinstance(server.get("command"), str):
        return False
    words = [name, server["command"], *map(str, server.get("args", []))]
    return any(_MAILS.search(word) for word in words)


def _is_guarded(server: Mapping[str, Any]) -> bool:
    arguments = server.get("args")
    is_ours = isinstance(arguments, list) and arguments[: len(_GUARD)] == _GUARD
    return is_ours and len(arguments or []) > len(_GUARD)


def _program() -> str:
    """The path of this program: clients start servers with a short search path."""
    beside = Path(sys.executable).with_name("send-ledger")
    return str(beside) if beside.exists() else shutil.which("send-ledger") or "send-ledger"
