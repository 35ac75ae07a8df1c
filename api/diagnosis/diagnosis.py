"""Looks at a running ledger as an expert would: what is wrong, and what to do about it."""

import platform
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from api.diagnosis.backups import look_at_backups
from api.diagnosis.finding import Finding, wrong
from api.guard_check.parts import ProbedParts
from api.guard_check.probes import Probes
from ledger.application.ports import Need
from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.policy import Policy
from ledger.store.alerts.outbox import list_alerts
from ledger.store.looking_back.journal import ledger_status
from ledger.store.statements import statement
from ledger.store.webhooks.refresh import overdue
from ledger.store.webhooks.rejected import list_rejected
from ledger.store.witness.witness_file import WitnessError, WitnessFile
from projections.customers import list_breakers
from projections.status import status

_LAG_SECONDS = 60.0
"""So far behind, a read model is alerted on as well (docs/guides/alerts.md)."""
_COUNTED = 100
"""Lists are counted up to here."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The findings, those that are wrong first, the versions, and the log's position."""

    findings: tuple[Finding, ...]
    versions: dict[str, str]
    position: int

    @property
    def ok(self) -> bool:
        """Nothing is wrong; there may be notes."""
        return all(finding.level == "note" for finding in self.findings)


async def diagnose(parts: ProbedParts, targets: int) -> Diagnosis:
    """Look at everything once; `targets` is the number of places that alerts go to.

    Reads only. Raises psycopg.Error, StoreUnavailable.
    """
    loaded = await parts.reader.load(Need(aggregates={CONTROL_ID}))
    control = loaded.aggregates.get(CONTROL_ID)
    found = list(_switches(control)) if isinstance(control, Control) else []
    found += await _clock_and_disk(parts)
    found += _witness(parts.witness_path, loaded.position)
    async with parts.connections.use() as connection:
        for look in _LOOKS:
            found += await look(parts, connection)
        server = connection.info.server_version
    if not targets:
        found.append(
            wrong(
                "no_alert_target",
                "alerts go nowhere: nobody is paged",
                "set LEDGER_ALERT_URLS, then run a guard check (docs/guides/alerts.md)",
            )
        )
    if parts.policy.message_id_domain == Policy().message_id_domain:
        found.append(
            Finding(
                "message_id_domain",
                "note",
                f"Message-IDs end in {parts.policy.message_id_domain}, which is nobody's domain",
                "set LEDGER_MESSAGE_ID_DOMAIN to the domain that you mail from",
            )
        )
    if parts.test_clock:
        found.append(
            Finding("test_clock", "note", "the ledger goes by a test clock", "use it for staging")
        )
    versions = {
        "ledger": version("send-ledger"),
        "postgresql": f"{server // 10_000}.{server % 10_000}",
        "python": platform.python_version(),
    }
    ordered = sorted(found, key=lambda finding: finding.level == "note")
    return Diagnosis(tuple(ordered), versions, loaded.position)


def _switches(control: Control) -> Iterator[Finding]:
    """What a human stopped or a restore did, and sources that are not heard any more."""
    if control.recovery_since is not None:
        yield wrong(
            "recovery_mode",
            f"the database is an older copy, since {_at(control.recovery_since)}; "
            "nothing is granted",
            "import what went out, then resume the scope recovery (docs/guides/restore.md)",
        )
    for scope, pause in control.pauses.items():
        yield wrong(
            "paused",
            f"{scope} is paused since {_at(pause.since)} by {pause.by}: {pause.reason}",
            f"once its cause is gone: send-ledger resume {scope} --reason TEXT",
        )
    for source, heard in sorted(control.silent_feeds.items())[:_COUNTED]:
        yield wrong(
            "feed_silent",
            f"the source {source} was last heard {_at(heard)}",
            "look at its webhook and at the provider's log of deliveries (docs/facts.md)",
        )


async def _clock_and_disk(parts: ProbedParts) -> list[Finding]:
    """The clocks, and whether a commit survives a crash."""
    probes, found = Probes(parts, ""), []
    clock = await probes.clock_sane()
    suspect = parts.engine.clock_suspect
    if suspect is not None or not clock.passed:
        found.append(
            wrong(
                "clock_suspect",
                suspect or clock.detail,
                "correct the clock, or declare it right: send-ledger clock accept --reason TEXT",
            )
        )
    disk = await probes.store_durable()
    if not disk.passed:
        found.append(
            wrong(
                "not_durable",
                f"a crash of the database's machine loses grants: {disk.detail}",
                "set fsync, full_page_writes and synchronous_commit to on in PostgreSQL",
            )
        )
    return found


def _witness(path: Path, position: int) -> list[Finding]:
    """The file by which a restored database is noticed."""
    try:
        if position == 0 or WitnessFile(path).read() is not None:
            return []
        why = f"there is no witness at {path}"
    except (WitnessError, OSError) as error:
        why = str(error)
    return [
        wrong(
            "witness_missing",
            f"{why}: a database that is restored goes unnoticed",
            "let LEDGER_WITNESS name a file that the service may write (docs/guides/restore.md)",
        )
    ]


async def _read_models(parts: ProbedParts, connection: AsyncConnection[Any]) -> list[Finding]:
    found = []
    for model in await status(connection):
        if model.state == "failed":
            what = f"the read model {model.name} failed at {model.failed_position}: {model.error}"
        elif model.lag > _LAG_SECONDS:
            what = f"the read model {model.name} is {model.lag:.0f} seconds behind the log"
        else:
            continue
        advice = f"send-ledger projections rebuild {model.name} (docs/guides/read-models.md)"
        found.append(wrong("projection_lag", what, advice))
    return found


async def _unknown(parts: ProbedParts, connection: AsyncConnection[Any]) -> list[Finding]:
    minutes = parts.policy.unknown_alert_minutes
    row = await (
        await connection.execute(statement("permits", "long_unknown"), {"minutes": minutes})
    ).fetchone()
    if row is None or not row[0]:
        return []
    return [
        wrong(
            "permit_unknown",
            f"of {_count(row[0], 'mail')} nobody has said whether it went out, "
            f"the oldest since {_at(row[1])}",
            "look into the provider's log: send-ledger permits --state unknown, then "
            "send-ledger outcome PERMIT sent|rejected",
        )
    ]


async def _breakers(parts: ProbedParts, connection: AsyncConnection[Any]) -> list[Finding]:
    rows = await list_breakers(connection, _COUNTED)
    if not rows:
        return []
    return [
        wrong(
            "breaker_open",
            f"{_counted(len(rows), 'breaker')} open: those customers get no mail",
            "find the sender and fix it: send-ledger breakers list; then breakers reset",
        )
    ]


async def _alerts(parts: ProbedParts, connection: AsyncConnection[Any]) -> list[Finding]:
    _, _, counts = await ledger_status(connection)
    unseen, undelivered = counts["alerts nobody has seen"], counts["alerts to be delivered"]
    found = []
    if unseen:
        found.append(
            wrong(
                "alerts_unseen",
                f"nobody has acknowledged {_count(unseen, 'alert')}",
                "send-ledger alerts list; then alerts ack",
            )
        )
    if undelivered:
        found.append(
            Finding(
                "alerts_undelivered",
                "note",
                f"{_count(undelivered, 'alert')} not delivered yet",
                "if it stays so, send-ledger alerts list --json has last_error",
            )
        )
    return found


async def _skipped_redeems(parts: ProbedParts, connection: AsyncConnection[Any]) -> list[Finding]:
    skipping = await list_alerts(connection, limit=_COUNTED, kind="redeem_skipped", unacked=True)
    return [
        wrong(
            "redeem_skipped",
            alert.summary,
            "let it redeem right before each mail, or give it a key with redeem: optional, whose "
            "unreported mails are unknown; then alerts ack (docs/guides/senders.md)",
        )
        for alert in reversed(skipping.items)
    ]


async def _webhooks(parts: ProbedParts, connection: AsyncConnection[Any]) -> list[Finding]:
    found = []
    bodies = await list_rejected(connection, limit=_COUNTED)
    if bodies:
        found.append(
            wrong(
                "webhooks_rejected",
                f"{_counted(len(bodies), 'webhook body')} could not be used",
                "send-ledger webhooks list, then replay or dismiss (docs/guides/webhooks.md)",
            )
        )
    for row in await overdue(connection, parts.policy.unknown_alert_minutes):
        found.append(
            wrong(
                "refresh_waiting",
                f"{_count(row.count, 'object')} of {row.provider} to be fetched, "
                f"since {_at(row.first_hinted_at)}",
                "send-ledger webhooks waiting, then done (docs/guides/webhooks.md)",
            )
        )
    return found


async def _backups(parts: ProbedParts, connection: AsyncConnection[Any]) -> list[Finding]:
    return await look_at_backups(connection)


_Look = Callable[[ProbedParts, AsyncConnection[Any]], Awaitable[list[Finding]]]
_LOOKS: tuple[_Look, ...] = (
    _read_models,
    _unknown,
    _breakers,
    _skipped_redeems,
    _alerts,
    _webhooks,
    _backups,
)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _counted(number: int, noun: str) -> str:
    """A count that ends at _COUNTED."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    if number >= _COUNTED:
        return f"{number} {plural} or more"
    return f"{number} {noun if number == 1 else plural}"


def _at(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M UTC")
