"""Runs the guard on standard input and output, with the e-mail server as its child."""

import asyncio
import contextlib
import json
import logging
import math
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, NoReturn

from sendledger import AsyncLedger, LedgerError, Pace

from api.gates.ending import set_when_told_to_end
from api.gates.error import GateError
from api.gates.mcp.guard import Guard, Message, encoded
from api.gates.mcp.guard_file import GuardFile
from api.gates.mcp.observed import Observed
from api.gates.mcp.tool_asks import fingerprint_key

_log = logging.getLogger("ledger.gate")
_LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one message: attachments are in it."""
_GRACE = 5.0
"""Seconds that the server has to end by itself, once the client has gone."""
_PACE = Pace(deadline=15.0, report_deadline=15.0)
_NOT_JSON = {"code": -32700, "message": "the guard cannot read this message"}


async def run_guard(command: Sequence[str], file: GuardFile, observed: Observed | None) -> int:
    """Serve until the client or the server ends; the server's exit status. Raises GateError."""
    key = file.key or os.environ.get("LEDGER_KEY") or ""
    try:
        ledger = AsyncLedger(file.ledger, key or None, pace=_PACE)
    except LedgerError as error:
        raise GateError(str(error)) from error
    # The guarded server has no business with the ledger.
    environ = {name: value for name, value in os.environ.items() if name != "LEDGER_KEY"}
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environ,
            limit=_LONGEST_LINE,
        )
    except OSError as error:
        raise GateError(f"{command[0]} does not start: {error.strerror or error}") from error
    reader, write = await _own_streams()
    assert child.stdin is not None
    assert child.stdout is not None
    guard = Guard(
        file,
        ledger,
        fingerprint_key(file, key),
        lambda message: write(encoded(message)),
        _writer_to(child.stdin),
        observed,
    )
    told = asyncio.Event()
    set_when_told_to_end(told)
    inward = asyncio.create_task(_inward(reader, guard, child.stdin, write))
    outward = asyncio.create_task(_outward(child.stdout, guard, write))
    ending = asyncio.create_task(told.wait())
    try:
        await asyncio.wait({inward, outward, ending}, return_when=asyncio.FIRST_COMPLETED)
        guard.stop()
        with contextlib.suppress(OSError):
            child.stdin.close()
        await asyncio.wait({outward}, timeout=_GRACE)
        if child.returncode is None and not outward.done():
            child.terminate()
        await guard.end()
    finally:
        for task in (inward, outward, ending):
            task.cancel()
        await ledger.close()
    return await _exit_status(child)


async def _exit_status(child: asyncio.subprocess.Process) -> int:
    try:
        return await asyncio.wait_for(child.wait(), _GRACE)
    except TimeoutError:
        child.kill()
        return await child.wait()


async def _inward(
    reader: asyncio.StreamReader,
    guard: Guard,
    server: asyncio.StreamWriter,
    write: Callable[[bytes], None],
) -> None:
    """From the client. What it says is written anew: two readers of one text may differ."""
    async for line in _lines(reader):
        messages = messages_in(line)
        if messages is None:
            write(encoded({"jsonrpc": "2.0", "id": None, "error": _NOT_JSON}))
            continue
        for message in messages:
            guard.from_client(message)
        with contextlib.suppress(OSError):
            await server.drain()


async def _outward(
    reader: asyncio.StreamReader, guard: Guard, write: Callable[[bytes], None]
) -> None:
    """From the server; what is no message goes on as it came."""
    async for line in _lines(reader):
        messages = messages_in(line)
        if messages is None:
            write(line)
            continue
        for message in messages:
            guard.from_server(message)


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The lines of a stream, to its end; one that is too long is its end."""
    with contextlib.suppress(OSError, ValueError):
        while line := await reader.readline():
            if line.strip():
                yield line


def messages_in(line: bytes) -> list[Message] | None:
    """The messages of a line, several of a batch; None where it holds none."""
    try:
        found: Any = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except ValueError:
        return None
    messages = found if isinstance(found, list) else [found]
    return messages if all(isinstance(one, dict) for one in messages) else None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _writer_to(stream: asyncio.StreamWriter) -> Callable[[Message], None]:
    def write(message: Message) -> None:
        with contextlib.suppress(OSError):
            stream.write(encoded(message))

    return write


async def _own_streams() -> tuple[asyncio.StreamReader, Callable[[bytes], None]]:
    """Standard input, and a function that writes a line to standard output."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)

    def write(line: bytes) -> None:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    return reader, write
