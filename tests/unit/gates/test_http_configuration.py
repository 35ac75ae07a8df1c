"""The file of the HTTP gate: what is wrong in it is said, and no secret with it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from api.cli.main import main
from api.gates.error import GateError
from api.gates.gate_file import read_file
from api.gates.http.configuration import HttpGateFile
from api.gates.http.credentials import sha256_of
from api.gates.http.gate import HttpGate

_SHA = sha256_of("the provider's key")
_LOGIN = f'[[login]]\nname = "a"\nprovider_key_sha256 = "{_SHA}"\nkey = "slk_secret"\n'
_ANY = '[anonymous]\nkey = "slk_secret"\n'


def _read(folder: Path, text: str) -> HttpGateFile:
    path = folder / "gate.toml"
    path.touch(0o600)
    path.write_text(text)
    return read_file(path, HttpGateFile)


def test_a_small_file_is_enough(tmp_path: Path) -> None:
    file = _read(tmp_path, _LOGIN)
    assert file.login[0].provider_key_sha256 == _SHA
    assert (file.bounds.body_bytes, file.bounds.mails) == (40_000_000, 100)
    assert "secret" not in repr(file)


def test_one_mail_has_another_name_at_each_gate(tmp_path: Path) -> None:
    file = _read(tmp_path, _LOGIN)
    other = _read(tmp_path, f'fingerprint_secret = "{"s" * 16}"\n{_LOGIN}')
    assert file.fingerprint_key("slk_a") != file.fingerprint_key("slk_b")
    assert other.fingerprint_key("slk_a") == other.fingerprint_key("slk_b")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "name a [[login]]"),
        (_LOGIN + _LOGIN, "a provider key is there twice"),
        (_LOGIN.replace(_SHA, "re_secret"), "login.0.provider_key_sha256"),
        (_LOGIN + '[upstream.url]\nbrevo = "https://a.example"', "a provider is one of"),
        (_LOGIN + '[upstream.url]\nresend = "https://a.example/v1"', "upstream.url.resend"),
        (_LOGIN + "[bounds]\nmails = 0", "bounds.mails"),
        ('root = "brevo"\n' + _LOGIN, "root"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(GateError) as caught:
        _read(tmp_path, text)
    assert told in str(caught.value)
    assert "secret" not in str(caught.value)


def test_what_cannot_work_keeps_the_gate_from_starting(tmp_path: Path) -> None:
    file = _read(tmp_path, _ANY + 'networks = ["everywhere"]\n')
    with pytest.raises(GateError, match=r"anonymous\.networks"):
        HttpGate(file)
    file = _read(tmp_path, _ANY + '[upstream]\nauthorities = "/none.pem"\n')
    with pytest.raises(GateError, match=r"upstream: /none\.pem"):
        HttpGate(file)


def test_the_command_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LEDGER_URL", raising=False)
    monkeypatch.delenv("LEDGER_KEY", raising=False)
    command = ["gate", "http", "--listen", "127.0.0.1:0"]
    without = CliRunner().invoke(main, command)
    assert (without.exit_code, "name a key of the ledger" in without.output) == (1, True)
    monkeypatch.setenv("LEDGER_KEY", "slk_a")
    nowhere = CliRunner().invoke(main, command)
    assert (nowhere.exit_code, "name the ledger" in nowhere.output) == (1, True)
    monkeypatch.setenv("LEDGER_URL", "http://127.0.0.1:1")
    taken = CliRunner().invoke(main, ["gate", "http", "--listen", "192.0.2.1:0"])
    assert (taken.exit_code, "travel in clear" in taken.output) == (1, True)
