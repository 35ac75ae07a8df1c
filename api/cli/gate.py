"""The commands gate …: gates for programs that cannot be changed."""

import os
from pathlib import Path

import click

from api.cli.session import clear_errors

_NEEDS = "the gate needs more packages: pip install 'send-ledger[gate]'"
_NO_LEDGER = "name the ledger: LEDGER_URL, or `ledger` in the file"


class Address(click.ParamType[tuple[str, int]]):
    """HOST:PORT; an IPv6 address stands in square brackets."""

    name = "host:port"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Host and port."""
        if isinstance(value, tuple):
            return value
        host, _, port = str(value).rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not host or not port.isdigit() or int(port) > 65_535:
            self.fail("it is written HOST:PORT, such as 127.0.0.1:2525", param, ctx)
        return host, int(port)


@click.group("gate", short_help="Let programs that cannot be changed ask, by SMTP or HTTP.")
def gate_group() -> None:
    """Let programs that cannot be changed ask, by SMTP or HTTP."""


@gate_group.command("smtp", short_help="An SMTP server that asks before it hands a mail over.")
@click.option(
    "--listen", required=True, type=Address(), help="Where programs connect; port 0: a free one."
)
@click.option("--upstream", required=True, type=Address(), help="The server that takes the mails.")
@click.option(
    "--config",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file with logins, keys and rules (mode 0600).",
)
@clear_errors
def smtp_command(listen: tuple[str, int], upstream: tuple[str, int], config: Path) -> None:
    """An SMTP server that asks the ledger (LEDGER_URL) before it hands a mail over."""
    import asyncio

    from api.process.logs import configure_logging

    try:
        from api.gates.gate_file import read_file
        from api.gates.smtp.configuration import GateFile
        from api.gates.smtp.gate import run_gate
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("aiosmtpd", "aiosmtplib", "sendledger"):
            raise
        raise click.ClickException(_NEEDS) from error
    file = read_file(config, GateFile)
    if not file.ledger and not os.environ.get("LEDGER_URL"):
        raise click.ClickException(_NO_LEDGER)
    configure_logging()

    def ready(port: int) -> None:
        click.echo(f"the gate listens on port {port}")

    asyncio.run(run_gate(file, listen, upstream, ready))


@gate_group.command("http", short_help="Mail providers' endpoints that ask before they send.")
@click.option(
    "--listen", required=True, type=Address(), help="Where programs connect; port 0: a free one."
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file with keys and rules (mode 0600); without it LEDGER_KEY, for this machine.",
)
@clear_errors
def http_command(listen: tuple[str, int], config: Path | None) -> None:
    """The sending endpoints of mail providers, which ask the ledger (LEDGER_URL) first."""
    import asyncio

    from api.process.logs import configure_logging

    try:
        from api.gates.gate_file import read_file
        from api.gates.http.configuration import HttpGateFile
        from api.process.gate_serving import run_http_gate
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("python_multipart", "sendledger"):
            raise
        raise click.ClickException(_NEEDS) from error
    key = os.environ.get("LEDGER_KEY")
    if config is not None:
        file = read_file(config, HttpGateFile)
    elif key:
        file = HttpGateFile.model_validate({"anonymous": {"key": key}})
    else:
        raise click.ClickException("name a key of the ledger: LEDGER_KEY, or a file by --config")
    if not file.ledger and not os.environ.get("LEDGER_URL"):
        raise click.ClickException(_NO_LEDGER)
    configure_logging()

    def ready(port: int) -> None:
        click.echo(f"the gate listens on port {port}")

    asyncio.run(run_http_gate(file, listen, ready))
