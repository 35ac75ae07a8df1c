"""Runs a guard check: live probes that prove that the guards work, before a resume (D13)."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from api.contract.problems import ProblemError
from api.guard_check.parts import ProbedParts
from api.guard_check.probes import Finding, Probes
from ledger.application.caller import Caller
from ledger.application.commands import NoteGuardCheck
from ledger.application.ports import Need
from ledger.domain.control import CONTROL_ID
from ledger.domain.identity import RESERVED_CUSTOMER_PREFIX

_PROBE_SECONDS = 15.0
_DRILL_SECONDS = 45.0
"""Timeouts after which a probe counts as failed; the drill waits for external services."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one probe: `detail` has what was observed, or where to look after a failure."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True, slots=True)
class GuardCheckResult:
    """A finished guard check; it passed if every probe passed. Times are UTC."""

    id: str
    started_at: datetime
    passed: bool
    checks: tuple[Check, ...]
    position: int


async def run_guard_check(parts: ProbedParts, caller: Caller) -> GuardCheckResult:
    """Make real requests for a new synthetic customer, inspect the store, and record the result.

    If it passed, it allows the resume of every pause that began before it. It takes a minute at
    most. Raises ProblemError (unavailable) where the result could not be recorded.
    """
    found = await parts.reader.load(Need(aggregates={CONTROL_ID}))
    control = found.aggregates.get(CONTROL_ID)
    check_id = str(uuid.uuid4())
    probes = Probes(parts, f"{RESERVED_CUSTOMER_PREFIX}{check_id}")
    checks = await _run(probes)
    failed = tuple(check.name for check in checks if not check.passed)
    version = control.version if control is not None else 0
    answer = await parts.engine.submit(NoteGuardCheck(check_id, found.now, version, failed, caller))
    if answer.status != 200:
        raise ProblemError("unavailable", "the guard check ran, but could not be recorded")
    if failed:
        parts.pager.wake()
    return GuardCheckResult(check_id, found.now, not failed, checks, answer.position)


async def _run(probes: Probes) -> tuple[Check, ...]:
    """Run the probes: the first three build on each other, the others check their effects."""
    checks = [
        await _bounded("duplicate_denied", probes.duplicate_denied),
        await _bounded("flood_stopped", probes.flood_stopped),
        await _bounded("breaker_opened", probes.breaker_opened),
    ]
    checks += await asyncio.gather(
        _bounded("drill_delivered", probes.drill_delivered, _DRILL_SECONDS),
        _bounded("decisions_recorded", probes.decisions_recorded),
        _bounded("projections_current", probes.projections_current),
        _bounded("clock_sane", probes.clock_sane),
        _bounded("store_durable", probes.store_durable),
    )
    await _bounded("tidied", probes.tidy)
    return tuple(checks)


async def _bounded(
    name: str, probe: Callable[[], Awaitable[Finding]], seconds: float = _PROBE_SECONDS
) -> Check:
    """The result of a probe; an unexpected error or a timeout counts as failed.

    The detail has the error's class and not its text, which could contain an address (design D18).
    """
    try:
        async with asyncio.timeout(seconds):
            finding = await probe()
    except TimeoutError:
        return Check(name, False, f"no result within {seconds:.0f} seconds")
    except Exception as error:
        return Check(name, False, f"the probe failed: {type(error).__name__}")
    return Check(name, finding.passed, finding.detail)
