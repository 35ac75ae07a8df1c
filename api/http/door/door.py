"""The door of one process: which connections are let in, and which are closed for others."""

import asyncio
import ipaddress
from collections.abc import Iterable
from typing import Any

from api.http.door.protocol import BoundedProtocol, Phase
from api.settings.greedy_callers import DoorLimits

_SWEEP_SECONDS = 0.25
_YOUNG_SECONDS = 1.0
"""Nobody's body or idle connection is taken for another's within so long."""


class Door:
    """Makes the protocol of each connection, as uvicorn asks for it, and bounds them together.

    It can be pickled: each worker process has one of its own with the same limits.
    """

    def __init__(self, limits: DoorLimits | None = None) -> None:
        self.limits = limits or DoorLimits()
        self.held = 0
        self._all: set[BoundedProtocol] = set()
        self._peers: dict[str, set[BoundedProtocol]] = {}
        self._reserve: set[BoundedProtocol] = set()
        self._sweeping = False

    def __reduce__(self) -> tuple[Any, ...]:
        return (Door, (self.limits,))

    def __call__(
        self,
        config: Any,
        server_state: Any,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> BoundedProtocol:
        """The protocol of a new connection."""
        return BoundedProtocol(
            self, config=config, server_state=server_state, app_state=app_state, _loop=_loop
        )

    def __len__(self) -> int:
        return len(self._all)

    def enter(self, new: BoundedProtocol) -> None:
        """Let a connection in: in its own place, in that of a silent one, or on trial.

        On trial it is of the reserve: its request is answered if an operator makes it.
        """
        self._keep_sweeping(new.loop)
        peer = peer_of(new.client)
        mine = self._peers.setdefault(peer, set())
        mine.add(new)
        self._all.add(new)
        if len(mine) - self._on_trial(mine) > self.limits.a_peer:
            new.reserve = not self._close_one(mine, new)
        elif len(self._all) - len(self._reserve) > self.limits.connections:
            largest = max(self._peers.values(), key=len)
            new.reserve = not (self._close_one(largest, new) or self._close_one(self._all, new))
        if not new.reserve:
            return
        self._reserve.add(new)
        if len(self._reserve) > self.limits.reserve and not self._close_one(self._reserve, new):
            new.refuse("unavailable", "there are too many connections; nothing was asked")

    def leave(self, gone: BoundedProtocol) -> None:
        """Forget a connection."""
        self._all.discard(gone)
        self._reserve.discard(gone)
        peer = peer_of(gone.client)
        mine = self._peers.get(peer)
        if mine is not None:
            mine.discard(gone)
            if not mine:
                del self._peers[peer]

    def is_crowded(self, requests: int) -> bool:
        """Are as many requests being answered as there may be connections?

        There are more than that where callers ask, and are gone before the answer.
        """
        return requests >= self.limits.connections

    def hold(self, size: int, by: BoundedProtocol) -> None:
        """Count bytes of a body; where all are too many, end the oldest that is not whole."""
        self.held += size
        if self.held <= self.limits.bodies:
            return
        unfinished = [c for c in self._all if c.phase is Phase.BODY and c.held]
        oldest = min(unfinished, key=lambda c: c.since, default=by)
        oldest.refuse("unavailable", "too many bodies are on their way; nothing was granted")

    def release(self, size: int) -> None:
        """Bytes of a body are held no more."""
        self.held -= size

    def _on_trial(self, some: set[BoundedProtocol]) -> int:
        return len(some & self._reserve) if self._reserve else 0

    def _close_one(self, some: Iterable[BoundedProtocol], new: BoundedProtocol) -> bool:
        """Close the connection that would be missed least; False where all are in use.

        That is the oldest which has not asked yet, else the one which is idle for longest, else the
        oldest of those whose bodies do not end.
        """
        now = new.loop.time()
        worst: tuple[int, float] | None = None
        chosen: BoundedProtocol | None = None
        for each in some:
            rank = _RANKS.get(each.phase)
            if rank is None or each is new or each.transport.get_write_buffer_size():
                continue
            if rank and now - each.since < _YOUNG_SECONDS:
                continue
            if worst is None or (rank, each.since) < worst:
                worst, chosen = (rank, each.since), each
        if chosen is None:
            return False
        if chosen.phase is Phase.BODY:
            chosen.refuse("unavailable", "the body did not end, and others wait")
        self.leave(chosen)
        if chosen.transport.get_write_buffer_size():
            chosen.transport.abort()
        else:
            chosen.transport.close()
        return True

    def _keep_sweeping(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._sweeping:
            self._sweeping = True
            loop.call_later(_SWEEP_SECONDS, self._sweep, loop)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """End what takes too long; one timer for all, as long as there are connections."""
        self._sweeping = False
        if not self._all:
            return
        now, unread = loop.time(), 0
        for each in list(self._all):
            each.overdue(now)
            size = each.transport.get_write_buffer_size()
            if not size:
                each.unread_since = None
                continue
            if each.unread_since is None:
                each.unread_since = now
            unread += size
            if unread > self.limits.unread or now - each.unread_since > self.limits.unread_for:
                each.transport.abort()
        self._keep_sweeping(loop)


_RANKS = {Phase.SILENT: 0, Phase.HEAD: 0, Phase.LEAVING: 0, Phase.IDLE: 1, Phase.BODY: 2}
"""The phases in which a connection may be closed for another, the first first."""


def peer_of(client: tuple[str, int] | None) -> str:
    """Whom a connection counts for: an IPv4 address, or the /64 of an IPv6 address."""
    host = client[0] if client else ""
    if ":" not in host:
        return host
    address = ipaddress.IPv6Address(host.partition("%")[0])
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, 64), strict=False))
