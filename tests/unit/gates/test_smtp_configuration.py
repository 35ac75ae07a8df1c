"""The file of the SMTP gate: what is wrong in it is said, and no secret with it."""

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.cli.main import main
from api.gates.error import GateError
from api.gates.gate_file import read_file
from api.gates.smtp.configuration import GateFile
from api.gates.smtp.gate import run_gate
from api.gates.smtp.upstream import Upstreams

_LOGIN = '[[login]]\nusername = "a"\npassword = "secret-a"\nkey = "slk_secret"\n'


def _read(folder: Path, text: str, mode: int = 0o600) -> GateFile:
    path = folder / "gate.toml"
    path.write_text(text)
    path.chmod(mode)
    return read_file(path, GateFile)


def test_a_small_file_is_enough(tmp_path: Path) -> None:
    file = _read(tmp_path, _LOGIN)
    assert file.bounds.message_bytes == 25_000_000
    assert file.bounds.recipients == 100
    assert "secret" not in repr(file)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "name a [[login]]"),
        (_LOGIN + _LOGIN, "a user name is there twice"),
        (_LOGIN + "[bounds]\nrecipients = 0", "bounds.recipients"),
        (_LOGIN + '[[rule]]\nkind = "fingerprint"', "a rule needs one of"),
        (_LOGIN + '[[rule]]\nlogin = "a"', "a rule says a kind"),
        (_LOGIN + '[[rule]]\nsubject = "("\nkind = "unguarded"', "not a regular expression"),
        (_LOGIN + '[[rule]]\nlogin = "a"\nkind = "letter"', "rule.0.kind"),
        (_LOGIN + '[[rule]]\nlogin = "a"\nkind = "message"', "intent"),
        (
            _LOGIN + '[[rule]]\nlogin = "a"\nkind = "unguarded"\nfields = {a = "b"}',
            "go with a kind",
        ),
        (_LOGIN + "colour = 1", "login.0.colour"),
        ("colour =", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(GateError) as caught:
        _read(tmp_path, text)
    assert told in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GateError, match="chmod 600"):
        _read(tmp_path, _LOGIN, 0o640)
    with pytest.raises(GateError, match="cannot be read"):
        read_file(tmp_path / "none.toml", GateFile)


def test_fingerprints_have_a_key_of_the_secret_else_of_the_ledger_key(tmp_path: Path) -> None:
    by_key = _read(tmp_path, _LOGIN)
    by_secret = _read(tmp_path, 'fingerprint_secret = "0123456789abcdef"\n' + _LOGIN)
    assert by_key.fingerprint_key("k1") != by_key.fingerprint_key("k2")
    assert by_secret.fingerprint_key("k1") == by_secret.fingerprint_key("k2")
    assert len(by_key.fingerprint_key("k1")) == 32


def test_a_password_goes_to_another_machine_with_tls_only(tmp_path: Path) -> None:
    text = _LOGIN + '[upstream]\nusername = "u"\npassword = "p"\ntls = "none"'
    upstream = _read(tmp_path, text).upstream
    Upstreams("127.0.0.1", 25, upstream)
    with pytest.raises(GateError, match="with TLS only"):
        Upstreams("mail.example.com", 25, upstream)


@pytest.mark.parametrize(
    ("text", "listen", "told"),
    [
        (_LOGIN, "0.0.0.0", "log in with TLS only"),
        (_LOGIN + '[tls]\ncertificate = "/none.pem"', "127.0.0.1", "cannot be used"),
        (_LOGIN + '[anonymous]\nkey = "k"\nnetworks = ["here"]', "127.0.0.1", "networks"),
        (_LOGIN, "192.0.2.1", "log in with TLS only"),
        ('[anonymous]\nkey = "k"', "192.0.2.1", "cannot listen on 192.0.2.1:0"),
    ],
)
def test_a_gate_that_cannot_be_run_says_why(
    tmp_path: Path, text: str, listen: str, told: str
) -> None:
    file = _read(tmp_path, 'ledger = "http://127.0.0.1:9"\n' + text)
    with pytest.raises(GateError, match=told):
        asyncio.run(run_gate(file, (listen, 0), ("127.0.0.1", 9), lambda port: None))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--listen", "2525", "--upstream", "localhost:25"], "it is written HOST:PORT"),
        (["--listen", "127.0.0.1:0", "--upstream", "localhost:25"], "name the ledger"),
    ],
)
def test_the_command_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    monkeypatch.delenv("LEDGER_URL", raising=False)
    _read(tmp_path, _LOGIN)
    words = ["gate", "smtp", *arguments, "--config", str(tmp_path / "gate.toml")]
    answer = CliRunner().invoke(main, words)
    assert answer.exit_code != 0
    assert told in answer.output
