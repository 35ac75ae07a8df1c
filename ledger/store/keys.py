"""API keys: created, stored as a hash, looked up and revoked (contract: keys)."""

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection, Connection

from ledger.application.caller import Caller, Riding
from ledger.application.key_limits import KeyLimits
from ledger.store.statements import statement

SCOPES = ("send", "facts", "operate", "audit", "admin")


@dataclass(frozen=True, slots=True)
class KeyRules:
    """What a key may do beside its scopes, as it was made: None for a limit that it does not have.

    `customers` are ids, or beginnings of ids that end with `*`. `rides` None leaves it to the
    scopes which riding facts it is believed (ADR 0014).
    """

    redeem_required: bool = True
    intents: Sequence[str] | None = None
    transactional: bool = False
    kinds: Sequence[str] | None = None
    stages: Sequence[str] | None = None
    customers: Sequence[str] | None = None
    reads_addresses: bool = True
    rides: Riding | None = None

    def caller(self, key_id: str, name: str, scopes: Iterable[str]) -> Caller:
        """The caller of a key with these rules."""
        limits = KeyLimits.of(
            kinds=self.kinds,
            stages=self.stages,
            intents=self.intents,
            customers=self.customers,
            reads_addresses=self.reads_addresses,
        )
        return Caller(
            key_id,
            name,
            frozenset(scopes),
            self.redeem_required,
            limits,
            self.transactional,
            self.rides,
        )


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key as a list shows it: everything but its secret; `riding` is what it comes to."""

    key_id: str
    name: str
    scopes: tuple[str, ...]
    rules: KeyRules
    riding: str
    created_at: datetime
    revoked_at: datetime | None

    @property
    def redeem(self) -> str:
        """`required` or `optional`."""
        return "required" if self.rules.redeem_required else "optional"

    @property
    def key_class(self) -> str:
        """`transactional` or `outreach`."""
        return "transactional" if self.rules.transactional else "outreach"


def key_hash(secret: str) -> bytes:
    """The sha256 by which a key is stored; its secret has 256 random bits and needs no salt."""
    return hashlib.sha256(secret.encode()).digest()


async def create_key(
    connection: AsyncConnection[Any], name: str, scopes: Sequence[str], rules: KeyRules
) -> tuple[KeyRecord, str]:
    """Create a key; returns it and its secret, which is not stored and never shown again."""
    key_id = f"key_{secrets.token_hex(8)}"
    secret = f"slk_{secrets.token_urlsafe(32)}"
    async with connection.transaction():
        cursor = await connection.execute(
            statement("keys", "insert"), _values(key_id, name, secret, scopes, rules)
        )
        row = await cursor.fetchone()
        await connection.execute(statement("keys", "bump"))
    assert row is not None
    return _record(row), secret


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
    *of_caller, created_at, revoked_at = row
    caller, rules = caller_of_row(tuple(of_caller)), _rules(of_caller)
    scopes = tuple(of_caller[2])
    return KeyRecord(
        caller.key_id, caller.name, scopes, rules, caller.riding.value, created_at, revoked_at
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
    return _rules(row).caller(row[0], row[1], row[2])


def _rules(row: Sequence[Any]) -> KeyRules:
    redeem, intents, transactional, kinds, stages, customers, reads_addresses, rides = row[3:11]
    return KeyRules(
        redeem,
        intents,
        transactional,
        kinds,
        stages,
        customers,
        reads_addresses,
        Riding(rides) if rides is not None else None,
    )


def _values(
    key_id: str, name: str, secret: str, scopes: Sequence[str], rules: KeyRules
) -> dict[str, Any]:
    return {
        "key_id": key_id,
        "name": name,
        "hash": key_hash(secret),
        "scopes": list(scopes),
        "redeem_required": rules.redeem_required,
        "intents": _listed(rules.intents),
        "transactional": rules.transactional,
        "kinds": _listed(rules.kinds),
        "stages": _listed(rules.stages),
        "customers": _listed(rules.customers),
        "reads_addresses": rules.reads_addresses,
        "riding": rules.rides.value if rules.rides is not None else None,
    }


def _listed(limit: Sequence[str] | None) -> list[str] | None:
    return list(limit) if limit is not None else None


def is_live(db: Connection[Any], secret: str) -> bool:
    """Is there a key of this secret that nobody has revoked? Raises psycopg.Error."""
    found = db.execute(statement("keys", "by_hash"), {"hash": key_hash(secret)})
    return found.fetchone() is not None


def insert_first_key(db: Connection[Any], secret: str, scopes: Sequence[str]) -> None:
    """Create the first key of a new embedded ledger, with these scopes; redeem is optional."""
    rules = KeyRules(redeem_required=False)
    with db.transaction():
        db.execute(
            statement("keys", "insert"), _values("key_first", "first", secret, scopes, rules)
        )
        db.execute(statement("keys", "bump"))
