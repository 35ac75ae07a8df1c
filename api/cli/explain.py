"""The command `explain`: prints the explanation of a decision."""

import json
import uuid
from datetime import datetime
from textwrap import indent
from typing import Any

import click
import orjson
from psycopg import AsyncConnection

from api.cli.session import clear_errors, new_table, shown, with_connection
from api.cli.terminal import console
from api.explanations.explanation import Explanation, explain, settings_changed_since
from api.settings.environment import load_settings
from ledger.application.world import Identity
from ledger.domain import instants
from ledger.domain.policy import Policy, policy_of
from ledger.store.looking_back.journal import get_decision

_WORDS = {"passed": "passed", "denied": "DENIED", "not_judged": "-"}


@click.command("explain", short_help="Why a decision was taken, guard by guard.")
@click.argument("decision_id", type=click.UUID)
@click.option("--facts", "with_facts", is_flag=True, help="Also the facts of then, as JSON.")
@clear_errors
def explain_command(decision_id: uuid.UUID, with_facts: bool) -> None:
    """Why a decision was taken: each guard's verdict, on the facts and by the policy of then."""
    settings = load_settings()
    identity = Identity(settings.secret, settings.policy.message_id_domain)

    async def work(connection: AsyncConnection[Any]) -> Any:
        row = await get_decision(connection, str(decision_id))
        return (row, await explain(connection, identity, row)) if row is not None else None

    found = with_connection(work)
    if found is None:
        raise click.ClickException(f"there is no decision {decision_id}")
    row, explanation = found
    _tell_request(row)
    if explanation is None:
        click.echo("The policy of then is not on record: it cannot be judged again.")
        return
    _tell_guards(explanation)
    if with_facts:
        _tell_state(explanation.state)
    else:
        click.echo("\n--facts prints the facts of then, as JSON")
    _tell_policy(row, settings.policy)


def _tell_request(row: dict[str, Any]) -> None:
    heard = "yes" if row["code"] is None and row["status"] < 400 else row["code"] or "forbidden"
    again = " (replayed)" if row["replayed"] else ""
    click.echo(f"Decision {row['decision_id']} of {shown(row['decided_at'])} UTC")
    click.echo(f"{row['sender']} asked for: {_asked(row['request'])}")
    click.echo(f"and heard: {row['status']} {heard}{again}")
    if row["repeats"]:
        click.echo(f"  {row['repeats']} times within a minute, beside those with rows of their own")
    if "detail" in row["answer"]:
        click.echo(f"  {row['answer']['detail']}")
    click.echo()


def _asked(request: Any) -> str:
    """The request in one line, without what was left out of it and the facts that rode along."""
    if not isinstance(request, dict):
        return json.dumps(request)
    told = {n: v for n, v in request.items() if v is not None and n not in ("facts", "message")}
    told |= {n: "..." for n in ("facts", "message") if request.get(n)}
    return json.dumps(told)


def _tell_guards(explanation: Explanation) -> None:
    table = new_table("guard", "about", "verdict", "code", "why")
    for verdict in explanation.guards:
        table.add_row(
            verdict.guard,
            verdict.about or "",
            _WORDS[verdict.verdict],
            verdict.code or "",
            verdict.detail or "",
        )
    console.print(table)
    click.echo(f"\njudged over the log up to position {explanation.position}", nl=False)
    told = "" if explanation.reproduced else ", which does NOT lead to the answer that was given"
    click.echo(told)


def _tell_state(state: dict[str, Any]) -> None:
    click.echo("\nThe facts then:")
    for name, content in state.items():
        for item in content if isinstance(content, list) else [content]:
            if item is not None:
                text = orjson.dumps(item, option=orjson.OPT_UTC_Z | orjson.OPT_INDENT_2).decode()
                click.echo(indent(f"{name}: {text}", "  "))


def _tell_policy(row: dict[str, Any], now: Policy) -> None:
    then = policy_of(json.dumps(row["policy_text"]))
    click.echo(f"\nThe policy then: {row['policy']}")
    for name, (was, is_) in settings_changed_since(then, now).items():
        click.echo(f"  {name} was {_plain(was)}, and is {_plain(is_)} in the settings here")


def _plain(value: object) -> str:
    return instants.told(value) if isinstance(value, datetime) else str(value)
