"""An agent that mails through the MCP guard: run with its plan as JSON on standard input.

It starts the guard before the tests' e-mail server and calls `send_email` for each send of its
plan, a few at once, from where the process before it stopped. `watch` is the file in which it
says what may be killed: its own process and the guard's, and the step of the plan.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

AT_ONCE = 4
_SECONDS = 120
"""A guard that does not answer so long ends the agent, which fails the test."""
_GUARD = (sys.executable, "-m", "api.cli.main", "mcp", "guard", "--")
_SERVER = str(Path(__file__).with_name("email_mcp_server.py"))
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "agent", "version": "1"},
}


def main(plan: Mapping[str, Any]) -> None:
    """Call the tool for what the plan names; die as the guard dies."""
    done = Path(plan["done"])
    finished = len(done.read_text(encoding="utf-8").splitlines()) if done.exists() else 0
    guard = subprocess.Popen(
        [*_GUARD, sys.executable, _SERVER, plan["receiver"]],
        env=os.environ | {"LEDGER_URL": plan["ledger"], "LEDGER_KEY": plan["key"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert guard.stdin is not None
    assert guard.stdout is not None
    watch = {name: plan.get(name) for name in ("step", "after")}
    pids = {"agent": os.getpid(), "guard": guard.pid}
    Path(plan["watch"]).write_text(json.dumps(watch | pids), encoding="utf-8")
    try:
        _ask(guard.stdin, guard.stdout, [{"id": 0, "method": "initialize", "params": _HELLO}])
        _write(guard.stdin, [{"method": "notifications/initialized"}])
        for at in range(finished, len(plan["sends"]), AT_ONCE):
            names = plan["sends"][at : at + AT_ONCE]
            _ask(guard.stdin, guard.stdout, [_call(name) for name in names])
            with done.open("a", encoding="utf-8") as file:
                file.writelines(f"{name}\n" for name in names)
    except (BrokenPipeError, EOFError):
        assert guard.wait() == -signal.SIGKILL, guard.returncode
        os.kill(os.getpid(), signal.SIGKILL)
    guard.stdin.close()
    assert guard.wait() == 0, guard.returncode


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
