"""SQL by name: every statement lives in a `.sql` file beside its kind."""

from functools import cache
from importlib.resources import files


@cache
def statement(folder: str, name: str) -> str:
    """The text of `sql/<folder>/<name>.sql`. Raises FileNotFoundError."""
    return (files("ledger.store") / "sql" / folder / f"{name}.sql").read_text(encoding="utf-8")
