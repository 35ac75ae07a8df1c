"""An agent that mails through the MCP guard: run with its plan as JSON on standard input.

It starts the guard before the tests' e-mail server and calls `send_email` for each send of its
plan, a few at once, from where the process before it stopped. `watch` is the file in which it
says what may be killed - its own process, the guard and the server - and the step of the plan.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

AT_ONCE = 4
_SECONDS = 120
"""A guard that does not answer so long ends the agent, which fails the test."""
_GUARD = (sys.executable, "-m", "api.cli.main", "mcp", "guard", "--")
_AS_FILE = ("sh", "-c", 'echo $$ > "$0"; exec "$@"')
"""Runs a command, and first writes its process id into a file."""
_SERVER = str(Path(__file__).with_name("email_mcp_server.py"))
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "agent", "version": "1"},
}


def main(plan: Mapping[str, Any]) -> None:
    """Call the tool for what the plan names; die where the guard ends."""
    done = Path(plan["done"])
    finished = len(done.read_text(encoding="utf-8").splitlines()) if done.exists() else 0
    watch, server = Path(plan["watch"]), f"{plan['watch']}-server"
    guard = subprocess.Popen(
        [*_GUARD, *_AS_FILE, server, sys.executable, _SERVER, plan["receiver"]],
        env=os.environ | {"LEDGER_URL": plan["ledger"], "LEDGER_KEY": plan["key"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert guard.stdin is not None
    assert guard.stdout is not None
    _ask(guard.stdin, guard.stdout, [{"id": 0, "method": "initialize", "params": _HELLO}])
    _write(guard.stdin, [{"method": "notifications/initialized"}])
    pids = {"agent": os.getpid(), "guard": guard.pid, "server": int(Path(server).read_text())}
    told = {name: plan.get(name) for name in ("step", "after")} | pids
    watch.write_text(json.dumps(told), encoding="utf-8")
    is_through = False
    with suppress(BrokenPipeError, EOFError):
        for at in range(finished, len(plan["sends"]), AT_ONCE):
            names = plan["sends"][at : at + AT_ONCE]
            _ask(guard.stdin, guard.stdout, [_call(name) for name in names])
            with done.open("a", encoding="utf-8") as file:
                file.writelines(f"{name}\n" for name in names)
        guard.stdin.close()
        is_through = True
    # A guard whose server was killed ends in good order.
    ended = guard.wait()
    assert ended in (0, -signal.SIGKILL), ended
    if ended != 0 or not is_through:
        os.kill(os.getpid(), signal.SIGKILL)


def _call(name: str) -> dict[str, Any]:
    """The call of the tool that mails a send."""
    mail = {"to": [f"{name}@example.com"], "subject": name, "body": "hello"}
    said = {"event_type": "chaos", "event_id": name, "customer_id": f"c-{name}"}
    arguments = mail | {"send_ledger": {"kind": "notification", **said}}
    params = {"name": "send_email", "arguments": arguments}
    return {"id": f"call-{name}", "method": "tools/call", "params": params}


def _ask(to: IO[bytes], answers: IO[bytes], requests: Sequence[Mapping[str, Any]]) -> None:
    """Write requests and wait until each is answered. Raises EOFError where the guard ended."""
    signal.alarm(_SECONDS)
    _write(to, requests)
    waiting = {request["id"] for request in requests}
    while waiting:
        line = answers.readline()
        if not line:
            raise EOFError
        waiting.discard(json.loads(line).get("id"))


def _write(to: IO[bytes], messages: Sequence[Mapping[str, Any]]) -> None:
    to.writelines(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages)
    to.flush()


if __name__ == "__main__":
    main(json.load(sys.stdin))
