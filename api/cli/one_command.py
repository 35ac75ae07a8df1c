"""Runs one command of the ledger from the command line, through an engine of its own."""

import asyncio
import getpass
import json

import click

from api.cli.session import opened_store
from api.settings.environment import load_settings
from api.settings.writing import writer_of
from ledger.application.answers import Answer
from ledger.application.commands import Command
from ledger.application.engine import Engine
from ledger.application.world import Identity


def run_command(command: Command) -> Answer:
    """The answer; the engine shares the writer lock with the service.

    Raises click.ClickException with the detail of a no.
    """
    settings = load_settings()

    async def submit(conninfo: str) -> Answer:
        writer = writer_of(settings, conninfo)
        identity = Identity(settings.secret, settings.policy.message_id_domain)
        engine = Engine(writer, settings.policy, identity)
        await engine.start()
        try:
            return await engine.submit(command)
        finally:
            await engine.stop()
            await writer.close()

    with opened_store(settings) as conninfo:
        answer = asyncio.run(submit(conninfo))
    if answer.status >= 400:
        raise click.ClickException(str(json.loads(answer.body)["detail"]))
    return answer


def user_name() -> str:
    """The name of the user who runs the command; in a container it may have none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "the command line"
