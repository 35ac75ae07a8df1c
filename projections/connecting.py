"""Opens connections for the read side's background workers, with their session settings."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from psycopg import AsyncConnection

_SETTINGS = {
    # A crash that loses a commit also loses its checkpoint, so the range is applied again.
    "synchronous_commit": "off",
    "timezone": "UTC",
    # Otherwise a statement planned while its tables were empty would keep a sequential scan.
    "enable_seqscan": "off",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
    "work_mem": "32MB",
    "lock_timeout": "5s",
    "statement_timeout": "60s",
    "idle_in_transaction_session_timeout": "60s",
}


async def connect(conninfo: str, purpose: str) -> AbstractAsyncContextManager[AsyncConnection[Any]]:
    """A connection in autocommit, closed at the end of the block. Raises psycopg.Error."""
    return await AsyncConnection.connect(
        conninfo,
        autocommit=True,
        prepare_threshold=1,
        options=" ".join(f"-c {name}={value}" for name, value in _SETTINGS.items()),
        tcp_user_timeout=20_000,
        application_name=f"send-ledger {purpose}",
        client_encoding="UTF8",
    )
