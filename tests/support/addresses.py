"""Searches for addresses where none may be: in every table of a database, and in texts."""

import base64
import re
from collections.abc import Iterable, Iterator

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.support.postgres import superuser

_BYTES = re.compile(r"\\\\x((?:[0-9a-f]{2})+)")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")


def tables_of(connection: psycopg.Connection) -> list[tuple[str, str]]:
    """Every table of the database that holds rows, by schema and name."""
    rows = connection.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'm') AND n.nspname NOT LIKE 'pg\\_%'"
        " AND n.nspname <> 'information_schema' ORDER BY 1, 2"
    ).fetchall()
    return [(schema, name) for schema, name in rows]


def dumped(connection: psycopg.Connection, schema: str, name: str) -> str:
    """Every row of a table as text; what is in bytes or base64 is there in the clear too."""
    copy = sql.SQL("COPY {} TO STDOUT").format(sql.Identifier(schema, name))
    with connection.cursor().copy(copy) as rows:
        text = b"".join(bytes(block) for block in rows).decode()
    return "\n".join([text, *hidden_in(text)])


def hidden_in(text: str) -> Iterator[str]:
    """What a text holds in hex or base64."""
    for found in _BYTES.findall(text):
        raw = bytes.fromhex(found).decode("latin-1")
        yield raw
        yield from hidden_in_base64(raw)
    yield from hidden_in_base64(text)


def hidden_in_base64(text: str) -> Iterator[str]:
    """What a text holds in base64."""
    for found in _BASE64.findall(text):
        with_padding = found.rstrip("=") + "=" * (-len(found.rstrip("=")) % 4)
        try:
            yield base64.b64decode(with_padding, validate=True).decode("latin-1")
        except ValueError:
            continue


def holding(text: str, addresses: Iterable[str]) -> set[str]:
    """The addresses that the text holds, however they are written."""
    folded = text.casefold()
    return {address for address in addresses if any(f in folded for f in forms_of(address))}


def forms_of(address: str) -> set[str]:
    """An address as it was given, with its domain in ASCII, and as JSON writes it."""
    local, _, domain = address.casefold().rpartition("@")
    found = {address.casefold(), f"{local}@{domain.encode('idna').decode()}"}
    return found | {form.encode("unicode_escape").decode() for form in found}


def tables_holding(database: str, addresses: Iterable[str]) -> dict[str, set[str]]:
    """The tables that hold any of the addresses, and which."""
    wanted, found = list(addresses), {}
    with superuser(database, str(conninfo_to_dict(database)["dbname"])) as connection:
        for schema, name in tables_of(connection):
            held = holding(dumped(connection, schema, name), wanted)
            if held:
                found[name] = held
    return found
