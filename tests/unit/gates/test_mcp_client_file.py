"""A client's configuration is edited, and taken back byte by byte."""

import json
from pathlib import Path
from typing import Any

import pytest

from api.gates.error import GateError
from api.gates.mcp.client_file import backup_of, install, undo

_ENVIRON = {"LEDGER_URL": "http://127.0.0.1:8080", "LEDGER_KEY": "slk_x", "HOME": "/"}
_BEFORE = """{
    "theme": "dark",
  "mcpServers": {
    "gmail": {"command": "npx", "args": ["-y", "gmail-mcp"],
      "env": {"TOKEN": "t"}, "type": "stdio"},
    "bare": { "command": "/opt/smtp-server" },
    "files": {"command": "npx", "args": ["files"]},
    "far": {"url": "https://mail.example.com/mcp"} } }"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A configuration as a person wrote it."""
    path = tmp_path / "client.json"
    path.write_text(_BEFORE)
    path.chmod(0o600)
    return path


def _servers(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())["mcpServers"]
    return found


def test_servers_that_look_like_mail_are_guarded_and_freed_again(file: Path) -> None:
    assert install(file, [], _ENVIRON) == ["gmail", "bare"]
    servers = _servers(file)
    assert servers["gmail"]["args"] == ["mcp", "guard", "--", "npx", "-y", "gmail-mcp"]
    assert servers["gmail"]["type"] == "stdio"
    assert servers["gmail"]["env"] == {
        "TOKEN": "t",
        "LEDGER_URL": "http://127.0.0.1:8080",
        "LEDGER_KEY": "slk_x",
    }
    assert servers["gmail"]["command"].endswith("send-ledger")
    assert servers["send-ledger"]["args"] == ["mcp"]
    assert servers["files"] == {"command": "npx", "args": ["files"]}
    assert file.stat().st_mode & 0o777 == 0o600
    once = file.read_text()
    assert install(file, [], _ENVIRON) == ["gmail", "bare"]
    assert file.read_text() == once
    assert undo(file) == ["gmail", "bare"]
    assert file.read_text() == _BEFORE
    assert not backup_of(file).exists()


def test_what_was_changed_since_stays(file: Path) -> None:
    assert install(file, ["files"], _ENVIRON) == ["files"]
    whole = json.loads(file.read_text())
    whole["theme"] = "light"
    file.write_text(json.dumps(whole))
    assert undo(file) == ["files"]
    after = json.loads(file.read_text())
    assert after["theme"] == "light"
    assert after["mcpServers"]["files"]["command"] == "npx"
    assert "send-ledger" not in after["mcpServers"]
    assert backup_of(file).read_text() == _BEFORE
    assert undo(file) == []


@pytest.mark.parametrize("names", [["nobody"], ["far"]])
def test_a_server_that_cannot_be_guarded_changes_nothing(file: Path, names: list[str]) -> None:
    with pytest.raises(GateError):
        install(file, names, _ENVIRON)
    assert file.read_text() == _BEFORE
    assert not backup_of(file).exists()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"mcpServers": []}', '{"mcpServers": {"a": 1}}'])
def test_what_is_no_configuration_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "client.json"
    path.write_text(text)
    with pytest.raises(GateError):
        install(path, [], _ENVIRON)
    with pytest.raises(GateError):
        undo(path)
    assert path.read_text() == text
