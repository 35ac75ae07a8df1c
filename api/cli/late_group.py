"""A group of commands that imports a command only when it runs, and shows them by what they do."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem


class Late(NamedTuple):
    """A command that is not imported yet: `module:attribute`, and its line in the list."""

    place: str
    what: str


class LateGroup(click.Group):
    """Its help and its completion need no import of any command."""

    def __init__(self, *, sections: Mapping[str, Mapping[str, Late]], **more: Any) -> None:
        super().__init__(**more)
        self._sections = sections

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the list."""
        return [name for name, _ in self._each()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None if there is none of that name."""
        late = dict(self._each()).get(cmd_name)
        if late is None:
            return None
        module, _, attribute = late.place.partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, a section for each purpose."""
        for title, commands in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, late.what) for name, late in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, for the shell."""
        found = [
            CompletionItem(name, help=late.what)
            for name, late in self._each()
            if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def _each(self) -> Iterator[tuple[str, Late]]:
        for commands in self._sections.values():
            yield from commands.items()
