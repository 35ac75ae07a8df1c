"""The terminal of the command line; imported late, because rich takes its time to load."""

from rich.console import Console

console = Console()
