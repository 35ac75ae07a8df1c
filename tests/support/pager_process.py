"""A pager in a process of its own, to be killed: `python -m tests.support.pager_process`.

Standard input is one line of JSON: conninfo, urls, and the claim in seconds. It runs until it is
killed; standard output says "running" when it starts.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from api.paging.pager import Cadence, Pager
from ledger.domain.policy import Policy

_ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def paging(conninfo: str, urls: Sequence[str], claim: float) -> Iterator[subprocess.Popen[str]]:
    """Runs the pager for the length of the block, then kills it as kill -9 does."""
    command = [sys.executable, "-m", "tests.support.pager_process"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=_ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        json.dump({"conninfo": conninfo, "urls": list(urls), "claim": claim}, process.stdin)
        process.stdin.write("\n")
        process.stdin.flush()
        try:
            assert process.stdout.readline() == "running\n"
            yield process
        finally:
            process.kill()


async def main() -> None:
    """Pages until killed."""
    order = json.loads(sys.stdin.readline())
    cadence = Cadence(poll=0.02, claim=order["claim"])
    pager = Pager(order["conninfo"], order["urls"], Policy(), cadence)
    print("running", flush=True)
    await pager.run()


if __name__ == "__main__":
    asyncio.run(main())
