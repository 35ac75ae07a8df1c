"""Reads an export by DuckDB and as plain bytes, and makes one in a folder of a test."""

from pathlib import Path
from typing import Any

import duckdb

from api.exports.exporting import Exported, Wanted, export

_READERS = {
    "parquet": ("read_parquet", ""),
    "csv": ("read_csv", ", allow_quoted_nulls = false"),
    "jsonl": ("read_json", ""),
}
LATEST = (
    "SELECT * FROM {table} QUALIFY row_number() OVER"
    " (PARTITION BY {key} ORDER BY exported_position DESC) = 1"
)


def exported(database: str, folder: Path | str, **how: Any) -> Exported:
    """Export all that is new, what was recorded just now included."""
    return export(database, str(folder), Wanted(**{"settle": 0.0} | how))


def asked(folder: Path, text: str, format: str = "parquet") -> list[tuple[Any, ...]]:
    """The answer of DuckDB; `{name}` is the table of that name."""
    reader, how = _READERS[format]
    tables = {
        path.name: f"{reader}('{path}/*/*.{format}', hive_partitioning = true{how})"
        for path in folder.iterdir()
        if not path.name.startswith("_")
    }
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.execute(text.format_map(tables)).fetchall()


def everything(folder: Path) -> bytes:
    """The bytes of all files, for a search."""
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
