"""Runs the HTTP gate: listens behind the door that bounds connections, and ends in good order."""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterator
from typing import Any, cast

import uvicorn

from api.gates.ending import set_when_told_to_end
from api.gates.error import GateError
from api.gates.http.app import GateApp
from api.gates.http.configuration import HttpGateFile
from api.gates.http.gate import HttpGate
from api.gates.loopback import is_this_machine
from api.http.door.door import Door
from api.settings.greedy_callers import DoorLimits

_LAST_SECONDS = 30
"""How long calls that are under way may take when the gate is told to end."""
_BODIES_AT_ONCE = 4
"""So many of the largest bodies, or as many small ones, may be there at once."""


class _Server(uvicorn.Server):
    """Leaves signals to the gate: its mails are reported before it ends."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield


async def run_http_gate(
    file: HttpGateFile, listen: tuple[str, int], ready: Callable[[int], None]
) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is told the port. Raises GateError."""
    host, port = listen
    if not (file.tls or file.trusted_network or is_this_machine(host)):
        raise GateError(
            "provider keys travel in clear: add [tls], or trusted_network = true where the "
            "network is yours alone"
        )
    # Their lines hold paths, and so addresses.
    for name in ("httpx", "httpcore", "uvicorn.access"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    gate = HttpGate(file)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            raise GateError(f"cannot listen on {host}:{port}: {why}") from error
        server = _Server(_config(file, gate))
        ended = asyncio.Event()
        set_when_told_to_end(ended)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        telling = asyncio.create_task(ended.wait())
        ready(listener.getsockname()[1])
        try:
            await asyncio.wait([serving, telling], return_when=asyncio.FIRST_COMPLETED)
        finally:
            server.should_exit = True
            telling.cancel()
            await serving
            await gate.end()


def _config(file: HttpGateFile, gate: HttpGate) -> uvicorn.Config:
    bounds = file.bounds
    door = DoorLimits(
        connections=bounds.connections,
        a_peer=bounds.connections,
        reserve=0,
        body=bounds.idle_seconds,
        idle=bounds.idle_seconds,
        bodies=_BODIES_AT_ONCE * bounds.body_bytes,
    )
    tls = file.tls
    try:
        config = uvicorn.Config(
            GateApp(gate),
            http=cast(Any, Door(door)),
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_LAST_SECONDS,
            ssl_certfile=str(tls.certificate) if tls else None,
            ssl_keyfile=str(tls.private_key or tls.certificate) if tls else None,
        )
        config.load()
    except OSError as error:
        raise GateError(f"tls: {tls and tls.certificate} cannot be used: {error}") from error
    return config
