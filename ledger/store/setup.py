"""Prepares a ledger's database: checks its secret, stores the policy, sets the test clock."""

import hashlib
import hmac
from datetime import datetime
from typing import Any

import psycopg
from psycopg import AsyncConnection

from ledger.domain.policy import Policy
from ledger.store.session_limits import session_options
from ledger.store.statements import statement

_WRONG = (
    "LEDGER_SECRET is not the secret that this ledger was set up with; "
    "give it the right one (or its secret file)"
)
_NONE = (
    "LEDGER_SECRET is not set, and there is no file `secret` in LEDGER_DATA_DIR; "
    "give the one that this ledger was set up with"
)


class WrongSecret(Exception):
    """LEDGER_SECRET is not the one of this database, so no address fingerprint would match."""


class RealHistory(Exception):
    """The ledger has real history; a test clock may be set only on a new ledger (design D16)."""


def check_secret(conninfo: str, secret: bytes) -> None:
    """Check that a secret is the one that the ledger was set up with; empty means none is set.

    A ledger that has none yet takes any. Raises WrongSecret, psycopg.Error.
    """
    with psycopg.connect(conninfo, autocommit=True, options=session_options()) as db:
        row = db.execute(statement("ledger", "get_setting"), {"name": "secret_check"}).fetchone()
    if row is None or (secret and hmac.compare_digest(row[0], _check_of(secret))):
        return
    raise WrongSecret(_WRONG if secret else _NONE)


def _check_of(secret: bytes) -> str:
    return hmac.new(secret, b"send-ledger secret check", hashlib.sha256).hexdigest()


def prepare_ledger(
    conninfo: str, secret: bytes, policy: Policy, test_clock: datetime | None
) -> bool:
    """Check the secret, store the policy's text and set the test clock.

    Returns True where the ledger uses a test clock. Raises WrongSecret or RealHistory.
    """
    check = _check_of(secret)
    with (
        psycopg.connect(conninfo, autocommit=True, options=session_options()) as db,
        db.transaction(),
    ):
        db.execute(statement("ledger", "lock"))
        db.execute(statement("ledger", "put_setting"), {"name": "secret_check", "value": check})
        row = db.execute(statement("ledger", "get_setting"), {"name": "secret_check"}).fetchone()
        if row is None or not hmac.compare_digest(row[0], check):
            raise WrongSecret(_WRONG)
        db.execute(statement("ledger", "put_setting"), {"name": "keys_version", "value": "0"})
        db.execute(
            statement("ledger", "keep_policy"),
            {"version": policy.version(), "policy": policy.text()},
        )
        state = db.execute(statement("ledger", "clock_state")).fetchone()
        assert state is not None
        now, has_history = state
        if test_clock is not None:
            if now is None and has_history:
                raise RealHistory("this ledger has real history; a test clock needs a fresh one")
            db.execute(statement("ledger", "set_clock"), {"now": test_clock})
            return True
        return now is not None


async def move_test_clock(connection: AsyncConnection[Any], now: datetime) -> datetime:
    """Move the test clock on to `now` (UTC), and answer where it is: it never goes back.

    Under the writer lock, so that no batch sees it move. Raises psycopg.Error.
    """
    async with connection.transaction():
        await connection.execute(statement("ledger", "lock"))
        cursor = await connection.execute(statement("ledger", "set_clock"), {"now": now})
        row = await cursor.fetchone()
    assert row is not None
    moved_to: datetime = row[0]
    return moved_to


def is_fresh(conninfo: str) -> bool:
    """True where the ledger has no API keys yet."""
    with psycopg.connect(conninfo, autocommit=True) as db:
        row = db.execute(statement("keys", "list"), {"limit": 1, "after": ""}).fetchone()
    return row is None
