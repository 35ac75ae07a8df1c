"""Capacity that is reserved for operators and admins, for what they alone may do."""

from collections.abc import Collection

from api.http.key_ring import secret_of
from ledger.application.caller import Caller
from ledger.store.connections import Connections
from ledger.store.keys import find_key

_IN_NEED = frozenset({"operate", "admin"})
_EVERYDAY = frozenset({"send", "facts"})


def may_use_the_reserve(caller: Caller) -> bool:
    """May this key have a connection, a place and a database connection kept for need?"""
    return bool(caller.scopes & _IN_NEED)


def is_for_need(scopes: Collection[str]) -> bool:
    """Is a call that needs one of these for operators or admins, not for programs that mail?"""
    return not _IN_NEED.isdisjoint(scopes) and _EVERYDAY.isdisjoint(scopes)


async def still_live(connections: Connections, authorization: bytes) -> Caller | None:
    """The caller as the store has it now; None if the key was revoked."""
    secret = secret_of(authorization)
    if secret is None:
        return None
    async with connections.use() as connection:
        return await find_key(connection, secret.decode("ascii"))
