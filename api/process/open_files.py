"""Makes room for the connections among the files that a process may have open."""

import logging
import resource
from dataclasses import replace

from api.settings.greedy_callers import DoorLimits

_log = logging.getLogger("ledger.serving")
_OTHERS = 256
"""Files, database connections and the like; and those that are being refused or closed."""


def within_open_files(door: DoorLimits) -> DoorLimits:
    """Raise the soft limit of open files as far as needed; fewer connections where it is too low.

    Without room a new connection could not even be refused.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = door.connections + 2 * door.reserve + _OTHERS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return door
    connections = max(16, soft - 2 * door.reserve - _OTHERS)
    _log.warning(
        "%d connections at most, since the process may open %d files only", connections, soft
    )
    return replace(door, connections=connections, a_peer=min(door.a_peer, connections))
