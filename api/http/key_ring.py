"""A cache of the API keys that this process has seen, so that a known key needs no query."""

from ledger.application.caller import Caller
from ledger.store.connections import Connections
from ledger.store.keys import find_key

_MOST_KEYS = 10_000


class KeyRing:
    """The cached keys, by their secret; a revocation in any process empties the cache."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._known: dict[bytes, Caller] = {}
        self._version = 0

    def known(self, authorization: bytes, version: int) -> Caller | None:
        """The cached caller of an `Authorization` header, if cached under this key version."""
        if version != self._version:
            self._known.clear()
            self._version = version
        return self._known.get(authorization)

    def forget(self) -> None:
        """Empty the cache."""
        self._known.clear()

    async def find(self, authorization: bytes) -> Caller | None:
        """Look up the caller of an `Authorization` header; None where there is none."""
        scheme, _, secret = authorization.partition(b" ")
        if scheme.lower() != b"bearer" or not 8 <= len(secret.strip()) <= 200:
            return None
        try:
            text = secret.strip().decode("ascii")
        except UnicodeDecodeError:
            return None
        async with self._connections.use() as connection:
            caller = await find_key(connection, text)
        if caller is not None:
            if len(self._known) >= _MOST_KEYS:
                self._known.clear()
            self._known[authorization] = caller
        return caller
