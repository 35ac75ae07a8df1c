"""API keys: created, stored as a hash, looked up and revoked (contract: keys)."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection, Connection

from ledger.application.caller import Caller
from ledger.store.statements import statement

SCOPES = ("send", "facts", "operate", "audit", "admin")


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key as a list shows it: everything but its secret."""

    key_id: str
    name: str
    scopes: tuple[str, ...]
    redeem: str
    intents: tuple[str, ...] | None
    key_class: str
    created_at: datetime
    revoked_at: datetime | None


def key_hash(secret: str) -> bytes:
    """The sha256 by which a key is stored; its secret has 256 random bits and needs no salt."""
    return hashlib.sha256(secret.encode()).digest()


async def create_key(
    connection: AsyncConnection[Any],
    name: str,
    scopes: Sequence[str],
    *,
    redeem_required: bool = True,
    intents: Sequence[str] | None = None,
    transactional: bool = False,
) -> tuple[str, str]:
    """Create a key; returns (key id, secret). The secret is not stored and never shown again."""
    key_id = f"key_{secrets.token_hex(8)}"
    secret = f"slk_{secrets.token_urlsafe(32)}"
    async with connection.transaction():
        await connection.execute(
            statement("keys", "insert"),
            {
                "key_id": key_id,
                "name": name,
                "hash": key_hash(secret),
                "scopes": list(scopes),
                "redeem_required": redeem_required,
                "intents": list(intents) if intents is not None else None,
                "transactional": transactional,
            },
        )
        await connection.execute(statement("keys", "bump"))
    return key_id, secret


async def revoke_key(connection: AsyncConnection[Any], key_id: str) -> bool:
    """Revoke a key: the ledger makes no decision for it after this call. False if unknown."""
    async with connection.transaction():
        await connection.execute(statement("ledger", "lock"))
        cursor = await connection.execute(statement("keys", "revoke"), {"key_id": key_id})
        found = await cursor.fetchone() is not None
        await connection.execute(statement("keys", "bump"))
    return found


async def list_keys(
    connection: AsyncConnection[Any], limit: int = 1000, after: str = ""
) -> list[KeyRecord]:
    """Keys ordered by id, revoked ones included, from the one after `after`."""
    cursor = await connection.execute(statement("keys", "list"), {"limit": limit, "after": after})
    return [_record(row) for row in await cursor.fetchall()]


def _record(row: tuple[Any, ...]) -> KeyRecord:
    key_id, name, scopes, redeem_required, intents, transactional, created_at, revoked_at = row
    return KeyRecord(
        key_id,
        name,
        tuple(scopes),
        "required" if redeem_required else "optional",
        tuple(intents) if intents is not None else None,
        "transactional" if transactional else "outreach",
        created_at,
        revoked_at,
    )


async def find_key(connection: AsyncConnection[Any], secret: str) -> Caller | None:
    """The caller whose key has this secret; None if it is unknown or revoked."""
    cursor = await connection.execute(statement("keys", "by_hash"), {"hash": key_hash(secret)})
    row = await cursor.fetchone()
    return caller_of_row(row) if row is not None else None


async def caller_named(connection: AsyncConnection[Any], key_id: str) -> Caller | None:
    """The caller of a key by its id, revoked or not: for explaining its past requests."""
    cursor = await connection.execute(statement("keys", "by_id"), {"key_id": key_id})
    row = await cursor.fetchone()
    return caller_of_row(row) if row is not None else None


def caller_of_row(row: tuple[Any, ...]) -> Caller:
    """The caller of a key's row: its id, name, scopes and so on, as `by_hash.sql` has them."""
    key_id, name, scopes, redeem_required, intents, transactional = row
    return Caller(
        key_id,
        name,
        frozenset(scopes),
        redeem_required,
        frozenset(intents) if intents is not None else None,
        transactional,
    )


def insert_first_key(db: Connection[Any], secret: str, scopes: Sequence[str]) -> None:
    """Create the first key of a new embedded ledger, with these scopes; redeem is optional."""
    with db.transaction():
        db.execute(
            statement("keys", "insert"),
            {
                "key_id": "key_first",
                "name": "first",
                "hash": key_hash(secret),
                "scopes": list(scopes),
                "redeem_required": False,
                "intents": None,
                "transactional": False,
            },
        )
        db.execute(statement("keys", "bump"))
