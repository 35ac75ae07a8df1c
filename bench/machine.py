"""Reads CPU seconds and memory of processes, and the machine's load and description."""

import os
import platform
import tempfile
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import psutil

_QUIET_SHARE = 0.12
_LOOK_SECONDS = 0.25
_QUIET_LOOKS = 3
"""How often in a row: read models that wait for the disk do nothing either for a moment."""


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds since a process tree started: of the service, and of PostgreSQL."""

    service: float
    postgres: float

    def since(self, before: "Spent") -> "Spent":
        """The CPU seconds spent since `before`."""
        return Spent(self.service - before.service, self.postgres - before.postgres)


def cpu_seconds(service: int | None, postmaster: int | None) -> Spent:
    """CPU seconds of one process, and of PostgreSQL with its backends, living and ended."""
    return Spent(
        _own(psutil.Process(service)) if service is not None else 0.0,
        _with_children(psutil.Process(postmaster)) if postmaster is not None else 0.0,
    )


def resident_bytes(pid: int) -> int:
    """The resident memory of a process, in bytes."""
    resident: int = psutil.Process(pid).memory_info().rss
    return resident


def wait_until_quiet(
    services: Collection[int], postmaster: int | None, at_most: float = 20.0
) -> bool:
    """Wait until the processes are idle, so that work left by one load does not slow the next.

    False where they were still busy after `at_most` seconds.
    """
    give_up = time.monotonic() + at_most
    before, looks = _all_cpu_seconds(services, postmaster), 0
    while time.monotonic() < give_up:
        time.sleep(_LOOK_SECONDS)
        now = _all_cpu_seconds(services, postmaster)
        looks = looks + 1 if now - before < _QUIET_SHARE * _LOOK_SECONDS else 0
        if looks == _QUIET_LOOKS:
            return True
        before = now
    return False


def load_average() -> float:
    """The load average of the last minute."""
    return round(os.getloadavg()[0], 2)


def fsync_ms(tries: int = 20) -> float:
    """The time of a small write with fsync, in ms: the minimum cost of a commit."""
    with tempfile.TemporaryFile() as file:
        started = time.perf_counter()
        for _ in range(tries):
            file.write(b"x" * 512)
            file.flush()
            os.fsync(file.fileno())
        return round((time.perf_counter() - started) / tries * 1000, 3)


def description() -> dict[str, object]:
    """A description of the machine, for the results."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def _all_cpu_seconds(services: Collection[int], postmaster: int | None) -> float:
    spent = cpu_seconds(None, postmaster).postgres
    return spent + sum(cpu_seconds(pid, None).service for pid in services)


def _own(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _with_children(process: psutil.Process) -> float:
    """CPU seconds of a process and its children; ended backends count in the parent's times."""
    times = process.cpu_times()
    total = float(times.user + times.system + times.children_user + times.children_system)
    for child in process.children(recursive=True):
        try:
            total += _own(child)
        except psutil.NoSuchProcess:
            continue
    return total


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
