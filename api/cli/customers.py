"""The commands customer, invoice, hold and release: as they are now, and holding mail back."""

import uuid
from datetime import datetime
from typing import Any

import click

from api.cli.acting import by_option, json_option, reason_option, tell_fields, tell_json
from api.cli.client import SaysNo, named, the_ledger
from api.cli.session import clear_errors, instant

_FIELDS = {"customer": "customer_id", "invoice": "invoice_id", "thread": "thread_id"}
_KINDS = "reminder payment_failed reply notification digest follow_up message apology".split()


@click.command("customer", short_help="A customer: breaker, windows, addresses, debts.")
@click.argument("customer_id")
@json_option
@clear_errors
def customer_command(customer_id: str, as_json: bool) -> None:
    """A customer as they are now: breaker, windows, addresses, debts."""
    answer = the_ledger().get(named("customers", customer_id))
    if as_json:
        tell_json(answer)
        return
    breaker, windows = answer.pop("breaker"), answer.pop("windows")
    answer.pop("position")
    answer["breaker"] = breaker["state"]
    if breaker["state"] == "open":
        answer["breaker"] = f"OPEN for {breaker['scope']}: {breaker['cause']}"
    answer |= {f"window {name}": _window(state) for name, state in windows.items()}
    tell_fields(answer)


@click.command("invoice", short_help="An invoice: what is owed, and its stages.")
@click.argument("invoice_id")
@json_option
@clear_errors
def invoice_command(invoice_id: str, as_json: bool) -> None:
    """An invoice as it is now: what is owed, and what became of its stages."""
    answer = the_ledger().get(named("invoices", invoice_id))
    if as_json:
        tell_json(answer)
        return
    stages = answer.pop("stages")
    answer.pop("position", None)
    answer["stages"] = [
        f"cycle {stage['cycle']} {stage['stage']}: {stage['state']}" for stage in stages
    ]
    tell_fields(answer)


@click.command(
    "hold", short_help="Hold mail back: of a customer, an invoice, a thread, an address."
)
@click.argument("what", type=click.Choice([*_FIELDS, "address"]))
@click.argument("name")
@click.option("--lift", is_flag=True, help="Lift the hold of this very reason.")
@click.option("--until", metavar="TIME", callback=instant, help="Until then (default: lifted).")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(_KINDS), help="Only this kind.")
@reason_option
@by_option
@json_option
@clear_errors
def hold_command(
    what: str,
    name: str,
    lift: bool,
    until: datetime | None,
    kinds: tuple[str, ...],
    reason: str,
    by: str,
    as_json: bool,
) -> None:
    """Hold mail back, or let it go again; the key needs the scope facts.

    It is a fact like those of a program, of the source command-line/NAME.
    """
    if "@" in by:
        raise click.BadParameter("a name, not an address", param_hint="'--by'")
    if kinds and what == "invoice":
        raise click.BadParameter("a hold of an invoice is for every kind", param_hint="'--kind'")
    data: dict[str, Any] = {_FIELDS.get(what, "address"): name, "reason": reason}
    if until is not None and not lift:
        data["until"] = until.isoformat()
    if kinds:
        data["kinds"] = list(kinds)
    fact = {"id": str(uuid.uuid4()), "source": f"command-line/{by}", "data": data}
    fact["type"] = f"{what}.{'unhold' if lift else 'hold'}"
    unheard = _is_unheard_of(what, name)
    answer = the_ledger().post("/v1/facts", {"facts": [fact]})
    result = answer["results"][0]
    if result["result"] == "rejected":
        raise click.ClickException(f"{result['detail']}")
    if as_json:
        tell_json(answer)
        return
    if result["result"] == "applied":
        click.echo(f"the hold is {'lifted' if lift else 'placed'}")
    else:
        click.echo("there was nothing to do")
    if unheard:
        click.echo(f"the ledger had not heard of the {what} {name}: is it spelt so?", err=True)


@click.command("release", short_help="Let mail go to addresses again after a bounce or complaint.")
@click.argument("customer_id")
@click.option("--address", help="Only this address (default: all of the customer's).")
@reason_option
@by_option
@json_option
@clear_errors
def release_command(
    customer_id: str, address: str | None, reason: str, by: str, as_json: bool
) -> None:
    """Let mail go again to a customer's addresses that had a bounce, a complaint or a block.

    An unsubscription stays: `hold address NAME --lift` lifts it.
    """
    asked = {"reason": reason, "by": by, "address": address}
    answer = the_ledger().post(named("customers", customer_id, "addresses", "release"), asked)
    if as_json:
        tell_json(answer)
    else:
        click.echo("released")


def _is_unheard_of(what: str, name: str) -> bool:
    """Is nothing known of it yet? A hold may come before everything else, and so may a typo."""
    if what not in ("customer", "invoice"):
        return False
    try:
        the_ledger().get(named(f"{what}s", name))
    except SaysNo as no:
        return no.status == 404
    return False


def _window(state: dict[str, Any]) -> str:
    frees = f", one frees at {state['frees_at']}" if state["frees_at"] else ""
    return f"{state['used']} of {state['limit']}{frees}"
