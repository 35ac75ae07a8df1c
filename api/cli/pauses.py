"""The commands pause, resume and guard-check: stop mails, prove the guard, let them go on."""

from typing import Any

import click

from api.cli.acting import (
    by_option,
    confirm,
    json_option,
    reason_option,
    tell_fields,
    tell_json,
    tell_rows,
    yes_option,
)
from api.cli.client import Ledger, the_ledger
from api.cli.session import clear_errors

_PROBES = {"check": "name", "passed": "passed", "what was seen": "detail"}


@click.command("pause", short_help="Stop mails now.")
@click.argument("scope")
@reason_option
@by_option
@json_option
@clear_errors
def pause_command(scope: str, reason: str, by: str, as_json: bool) -> None:
    """Stop mails now: nothing of the scope is granted after this has returned.

    SCOPE is all, outreach, kind:KIND or sender:NAME.
    """
    asked = {"scope": scope, "reason": reason, "by": by}
    _tell(the_ledger().post("/v1/control/pause", asked), as_json)


@click.command("resume", short_help="Let mails go on, after a guard check.")
@click.argument("scope")
@reason_option
@by_option
@click.option(
    "--guard-check", "check_id", help="A check that passed since the pause (default: run one)."
)
@yes_option
@json_option
@clear_errors
def resume_command(
    scope: str, reason: str, by: str, check_id: str | None, yes: bool, as_json: bool
) -> None:
    """Let mails go on, after a guard check that passed.

    SCOPE is the scope of the pause, or recovery after a restore.
    """
    ledger = the_ledger()
    if check_id is None:
        check_id = _checked(ledger, as_json)
    confirm(f"Resume {scope}, as {by}?", yes)
    asked = {"scope": scope, "reason": reason, "by": by, "guard_check_id": check_id}
    _tell(ledger.post("/v1/control/resume", asked), as_json)


@click.command("guard-check", short_help="Try the guard, with a customer who does not exist.")
@json_option
@clear_errors
def guard_check_command(as_json: bool) -> None:
    """Try the guard, with a customer who does not exist. Exit code 1: it did not pass."""
    answer = the_ledger().post("/v1/control/guard-check", {})
    if as_json:
        tell_json(answer)
    else:
        tell_rows(answer["checks"], _PROBES, "nothing was tried", False)
        click.echo(f"guard check {answer['id']} {'passed' if answer['passed'] else 'FAILED'}")
    if not answer["passed"]:
        raise click.exceptions.Exit(1)


def _checked(ledger: Ledger, as_json: bool) -> str:
    """The id of a new guard check that passed. Raises ClickException where it did not."""
    answer = ledger.post("/v1/control/guard-check", {})
    if not answer["passed"]:
        failed = [probe for probe in answer["checks"] if not probe["passed"]]
        raise click.ClickException(
            "the guard check failed, and nothing was resumed: "
            + "; ".join(f"{probe['name']}: {probe['detail']}" for probe in failed)
        )
    if not as_json:
        click.echo(f"guard check {answer['id']} passed")
    return str(answer["id"])


def _tell(answer: Any, as_json: bool) -> None:
    """The switches, as they are now."""
    if as_json:
        tell_json(answer)
        return
    recovery = answer["recovery"]
    stopped = [f"PAUSED {p['scope']} by {p['by']}: {p['reason']}" for p in answer["pauses"]]
    if recovery is not None:
        stopped.insert(0, "RECOVERY MODE")
    tell_fields({"sending": stopped or "on"})
