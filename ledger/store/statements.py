"""Reads SQL statements by name: each one is a `.sql` file in the folder of its topic."""

from functools import cache
from importlib.resources import files


@cache
def statement(folder: str, name: str) -> str:
    """The text of `sql/<folder>/<name>.sql`. Raises FileNotFoundError."""
    return (files("ledger.store") / "sql" / folder / f"{name}.sql").read_text(encoding="utf-8")
