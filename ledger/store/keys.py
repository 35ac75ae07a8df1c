"""API keys: made once, kept as a hash, looked up and revoked (contract: keys)."""

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
    """A key as it is listed: everything but its secret."""

    key_id: str
    name: str
    scopes: tuple[str, ...]
    redeem: str
    intents: tuple[str, ...] | None
    key_class: str
    created_at: datetime
    revoked_at: datetime | None


def key_hash(secret: str) -> bytes:
    """The sha256 under which a key is kept; its secret has 256 random bits, so no salt."""
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
    """Make a key; answers (key id, secret), the only time that the secret is seen."""
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
    """Revoke a key: no decision after this call is made for it. False if there is none."""
    async with connection.transaction():
        await connection.execute(statement("ledger", "lock"))
        cursor = await connection.execute(statement("keys", "revoke"), {"key_id": key_id})
        found = await cursor.fetchone() is not None
        await connection.execute(statement("keys", "bump"))
    return found


async def list_keys(
    connection: AsyncConnection[Any], limit: int = 1000, after: str = ""
) -> list[KeyRecord]:
    """Keys in the order of their ids, revoked ones included."""
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
    """The caller of a key that is not revoked."""
    cursor = await connection.execute(statement("keys", "by_hash"), {"hash": key_hash(secret)})
    row = await cursor.fetchone()
    return _caller(row) if row is not None else None


async def caller_named(connection: AsyncConnection[Any], key_id: str) -> Caller | None:
    """The caller of a key by its id, revoked or not: for explaining what it once asked."""
    cursor = await connection.execute(statement("keys", "by_id"), {"key_id": key_id})
    row = await cursor.fetchone()
    return _caller(row) if row is not None else None


def _caller(row: tuple[Any, ...]) -> Caller:
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
    """Make the ready-made key of a fresh embedded ledger: every scope, redeem optional."""
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
