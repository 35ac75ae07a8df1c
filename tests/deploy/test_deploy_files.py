"""What stands in deploy/ to be copied fits the program: its options, settings and time limits."""

import re
from collections import defaultdict
from pathlib import Path

import click
import pytest

from api.cli.service import serve_command
from api.process.serving import server_config
from api.settings.environment import load_settings

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "deploy" / "systemd" / "send-ledger.service"
NGINX = ROOT / "deploy" / "nginx" / "send-ledger.conf"
CADDY = ROOT / "deploy" / "caddy" / "Caddyfile"
_PROGRAM = "/opt/send-ledger/bin/send-ledger"


def unit() -> dict[str, list[str]]:
    """The values of the unit by section and name, such as `Service.User`."""
    found: dict[str, list[str]] = defaultdict(list)
    section = ""
    for line in UNIT.read_text(encoding="utf-8").splitlines():
        if re.fullmatch(r"\[\w+\]", line):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, is_one, value = line.partition("=")
            assert is_one, line
            found[f"{section}.{name}"].append(value)
    return found


def test_the_unit_starts_the_service_with_options_that_it_has() -> None:
    (command,) = unit()["Service.ExecStart"]
    program, name, *options = command.split()
    assert (program, name) == (_PROGRAM, "serve")
    with serve_command.make_context("serve", options) as context:
        assert context.params["host"] == "127.0.0.1"
        assert isinstance(context, click.Context)


def test_the_unit_sets_what_the_program_reads() -> None:
    given = dict(line.split("=", 1) for line in unit()["Service.Environment"])
    assert load_settings(given).data_dir == Path("/var/lib/send-ledger")
    assert unit()["Service.StateDirectory"] == ["send-ledger"]


def test_the_unit_waits_longer_than_the_service_answers() -> None:
    graceful = server_config(None).timeout_graceful_shutdown
    assert graceful is not None
    assert int(unit()["Service.TimeoutStopSec"][0]) > graceful
    assert unit()["Service.KillMode"] == ["mixed"]


def seconds_idle(config: Path) -> list[int]:
    text = config.read_text(encoding="utf-8")
    return [int(found) for found in re.findall(r"keepalive(?:_timeout)? (\d+)s", text)]


@pytest.mark.parametrize("config", [NGINX, CADDY], ids=lambda path: path.parent.name)
def test_a_proxy_closes_idle_connections_before_the_ledger_does(config: Path) -> None:
    (idle,) = seconds_idle(config)
    assert idle < load_settings({}).door.idle


def test_no_proxy_passes_metrics_on() -> None:
    assert re.search(r"location = /metrics \{\s+return 404;", NGINX.read_text(encoding="utf-8"))
    caddy = CADDY.read_text(encoding="utf-8")
    assert "@metrics path /metrics\n\trespond @metrics 404" in caddy
