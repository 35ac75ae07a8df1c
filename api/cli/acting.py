"""What operator commands have in common: their options, and answers as tables or as JSON."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import click

from api.cli.session import fits, new_table, print_table
from api.cli.user import user_name

Command = Callable[..., Any]

_FEW_COLUMNS = 4
"""A table of no more can be read with broken lines too."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print the service's own JSON.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask: for scripts.")
reason_option = click.option("--reason", required=True, help="Why; it is kept in the log.")


def by_option(command: Command) -> Command:
    """`--by`: the human who is on record."""
    return click.option(
        "--by", default=user_name, help="Who decides it (default: the user who runs this)."
    )(command)


def limit_option(default: int) -> Callable[[Command], Command]:
    """`--limit`: how many are listed."""
    return click.option(
        "--limit", default=default, show_default=True, type=click.IntRange(1, 100_000)
    )


def confirm(question: str, yes: bool) -> None:
    """Ask a human, unless --yes was given. Raises ClickException where the answer is no."""
    if yes:
        return
    try:
        sure = click.confirm(question, err=True)
    except click.Abort:
        click.echo(err=True)
        raise click.ClickException("nobody said yes: give --yes where nobody is asked") from None
    if not sure:
        raise click.ClickException("nothing was done")


def tell_json(answer: Any) -> None:
    """The answer in one line, for a program."""
    click.echo(json.dumps(answer, ensure_ascii=False))


def tell_rows(
    rows: Sequence[dict[str, Any]], columns: dict[str, str], nothing: str, as_json: bool
) -> None:
    """Rows as a table with these columns (heading → field), or as JSON.

    Where the terminal is too narrow for the table, each row is a block of lines.
    """
    if as_json:
        tell_json(list(rows))
        return
    table, cells = new_table(*columns), [list(columns)]
    if columns:
        # The first one is the id, to be copied whole.
        table.columns[0].no_wrap = True
    for row in rows:
        cells.append([plain(row.get(field)) for field in columns.values()])
        table.add_row(*cells[-1])
    if len(columns) <= _FEW_COLUMNS or fits(cells):
        print_table(table, nothing)
        return
    for number, row in enumerate(rows):
        if number:
            click.echo()
        tell_fields({heading: row.get(field) for heading, field in columns.items()}, headed=False)


def tell_fields(fields: dict[str, Any], headed: bool = True) -> None:
    """One thing as a table of its fields; what it does not have is left out."""
    table = new_table("what", "value")
    table.show_header = headed
    for name, value in fields.items():
        if value not in (None, "", [], {}):
            table.add_row(name, plain(value))
    print_table(table, "nothing is known")


def plain(value: Any) -> str:
    """A value of an answer as a person reads it: times to the second (UTC)."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "\n".join(plain(item) for item in value)
    if isinstance(value, dict):
        told = (f"{name} {plain(item)}" for name, item in value.items() if item is not None)
        return ", ".join(told)
    text = str(value)
    if len(text) >= 20 and text[10] == "T" and text.endswith("Z") and text[:4].isdecimal():
        return f"{text[:10]} {text[11:19]}"
    return text
