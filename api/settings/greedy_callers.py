"""Settings that bound callers: connections, heads and bodies at the door, and what one key may."""

from collections.abc import Mapping
from dataclasses import dataclass


class BadBound(Exception):
    """A bound is not a number in its range; the message names it."""


@dataclass(frozen=True, slots=True)
class DoorLimits:
    """Bounds of one process. Times in seconds, sizes in bytes.

    `connections` are served; `reserve` more are looked at, and served where an operator's key
    asks. `a_peer` is one address, or one /64 of IPv6. `bodies` are all bodies together that wait
    or are being answered; `unread` are all answers that callers do not read.
    """

    connections: int = 1_000
    a_peer: int = 512
    reserve: int = 64
    first_byte: float = 10.0
    head: float = 10.0
    body: float = 30.0
    idle: float = 75.0
    unread_for: float = 60.0
    bodies: int = 64 * 1024 * 1024
    unread: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PerKey:
    """Bounds of each key in one process.

    Requests a second, requests being answered, and commands that wait for the writer.
    """

    a_second: int = 5_000
    at_once: int = 512
    commands: int = 4_096


def read_door(env: Mapping[str, str]) -> DoorLimits:
    """The bounds of connections. Raises BadBound."""
    plain = DoorLimits()
    connections = _whole(env, "LEDGER_CONNECTIONS", plain.connections, 16, 60_000)
    head = _whole(env, "LEDGER_HEAD_SECONDS", int(plain.head), 1, 600)
    return DoorLimits(
        connections=connections,
        a_peer=_whole(env, "LEDGER_CONNECTIONS_PER_PEER", plain.a_peer, 1, 60_000),
        first_byte=head,
        head=head,
        body=_whole(env, "LEDGER_BODY_SECONDS", int(plain.body), 1, 600),
        idle=_whole(env, "LEDGER_IDLE_SECONDS", int(plain.idle), 1, 3_600),
    )


def read_per_key(env: Mapping[str, str]) -> PerKey:
    """The bounds of each key. Raises BadBound."""
    plain = PerKey()
    return PerKey(
        a_second=_whole(env, "LEDGER_KEY_REQUESTS_PER_SECOND", plain.a_second, 1, 1_000_000),
        at_once=_whole(env, "LEDGER_KEY_REQUESTS_AT_ONCE", plain.at_once, 1, 60_000),
        commands=_whole(env, "LEDGER_KEY_COMMANDS", plain.commands, 1, 4_096),
    )


def _whole(env: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    text = env.get(name) or str(default)
    if not (text.isascii() and text.isdecimal() and least <= int(text) <= most):
        raise BadBound(f"{name} is a whole number from {least} to {most}, such as {default}")
    return int(text)
