"""What tests of the HTTP gate share: its file, and a gate in a thread."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from api.gates.http.configuration import HttpGateFile
from api.gates.http.credentials import sha256_of
from api.gates.http.registry import PROVIDERS
from api.process.gate_serving import run_http_gate
from tests.support.mail_provider import KEY, MailProvider

_SECONDS = 30.0


def http_gate_file(url: str, key: str, provider: MailProvider, **more: Any) -> HttpGateFile:
    """A file with one login, whose providers are the stand-in."""
    login = {"name": "shop", "provider_key_sha256": sha256_of(KEY), "key": key}
    upstream = {"url": dict.fromkeys(PROVIDERS, provider.url), **more.pop("upstream", {})}
    return HttpGateFile.model_validate(
        {"ledger": url, "login": [login], "upstream": upstream} | more
    )


@contextlib.contextmanager
def running_http_gate(file: HttpGateFile) -> Iterator[str]:
    """A gate in a thread, during the block; its URL."""
    ports: list[int] = []
    started = threading.Event()
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []

    def ready(port: int) -> None:
        ports.append(port)
        started.set()

    async def run() -> None:
        task = asyncio.current_task()
        assert task is not None
        loops.append((asyncio.get_running_loop(), task))
        with contextlib.suppress(asyncio.CancelledError):
            await run_http_gate(file, ("127.0.0.1", 0), ready)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        assert started.wait(_SECONDS), "the gate does not start"
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        loop, task = loops[0]
        loop.call_soon_threadsafe(task.cancel)
        thread.join(_SECONDS)
