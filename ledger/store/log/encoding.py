"""Encodes a batch as the JSON arguments of the SQL function `append_batch` (design D4)."""

import base64
import hashlib
from datetime import datetime
from typing import Any
from uuid import UUID

from eventsourcing.utils import get_topic

from ledger.application.ports import Batch, DecisionRow
from ledger.application.world import Name
from ledger.domain.permit import Permit
from ledger.store.hashchain import event_hash
from ledger.store.log.transcoding import (
    SNAPSHOT_TOPICS,
    write_json,
    write_permit,
    write_snapshot,
    write_state,
)


def name_hash(name: Name) -> bytes:
    """The digest by which an outside name is stored; its kind is a separate column."""
    return hashlib.sha256(name[1].encode()).digest()


def encode_batch(batch: Batch, before: bytes) -> tuple[tuple[bytes | None, ...], bytes]:
    """The JSON arguments of `append_batch` for the unsent part of a batch, and the last hash.

    `before` is the hash of the last event before that part.
    """
    permits = {each.permit_id: (each, write_permit(each)) for each in batch.permits.values()}
    events, last = _events(batch, before, permits)
    arguments = (
        _text(events),
        _text([_decision(row) for row in batch.decisions[batch.decisions_sent :]]),
        _text([_permit(*permit) for permit in permits.values()]),
        _text(_rest(batch)),
    )
    return arguments, last


def _text(content: Any) -> bytes | None:
    return write_json(content) if content else None


def _rest(batch: Batch) -> dict[str, Any]:
    """The fields that few batches have."""
    content: dict[str, Any] = {}
    _names(batch, content)
    if batch.bindings:
        content["bindings"] = [
            {
                "s": row.scope.hex(),
                "f": row.fingerprint.hex(),
                "p": row.permit_id,
                "t": row.status,
                "b": base64.b64encode(row.body).decode() if row.body is not None else None,
                "a": row.created_at,
            }
            for row in batch.bindings.values()
        ]
    if batch.contacts:
        content["contacts"] = [
            {"f": fingerprint, "c": customer_id, "a": address}
            for (fingerprint, customer_id), address in batch.contacts.items()
        ]
    if batch.owners:
        content["owners"] = [{"c": c, "i": i} for c, i in sorted(batch.owners)]
    if batch.alerts:
        content["alerts"] = [
            {
                "k": alert.dedupe_key,
                "n": alert.kind,
                "s": alert.summary,
                "c": alert.customer_id,
                "p": alert.permit_id,
                "d": alert.drill,
                "a": raised_at,
            }
            for alert, raised_at in batch.alerts
        ]
    _snapshots(batch, content)
    if batch.forgotten:
        content["forgotten"] = batch.forgotten
    return content


def event_row(
    before: bytes,
    position: int,
    originator_id: UUID,
    originator_version: int,
    topic: str,
    state: bytes,
    recorded_at: datetime,
) -> tuple[dict[str, Any], bytes]:
    """One event as `append_batch` expects it, and its hash; `before` is the previous hash."""
    hash_ = event_hash(
        before, position, originator_id, originator_version, topic, state, recorded_at
    )
    row = {
        "p": position,
        "o": originator_id,
        "v": originator_version,
        "t": topic,
        "s": state.decode(),
        "r": recorded_at,
        "h": hash_.hex(),
    }
    return row, hash_


def _events(
    batch: Batch, last: bytes, permits: dict[str, tuple[Permit, bytes]]
) -> tuple[list[dict[str, Any]], bytes]:
    rows = []
    position = batch.head.position + batch.events_sent
    for event in batch.events[batch.events_sent :]:
        position += 1
        row, last = event_row(
            last,
            position,
            event.originator_id,
            event.originator_version,
            get_topic(type(event)),
            write_state(event, permits),
            event.timestamp,
        )
        rows.append(row)
    return rows, last


def _decision(row: DecisionRow) -> dict[str, Any]:
    return {
        "i": row.decision_id,
        "a": row.decided_at,
        "p": row.position,
        "o": row.operation,
        "k": row.key_id,
        "n": row.sender,
        "d": row.kind,
        "c": row.customer_id,
        "v": row.invoice_id,
        "t": row.thread_id,
        "s": row.status,
        "e": row.code,
        "y": row.replayed,
        "l": row.policy,
        "q": row.request.decode(),
        "w": row.answer.decode(),
    }


def _permit(permit: Permit, written: bytes) -> dict[str, Any]:
    return {
        "i": permit.permit_id,
        "s": permit.state,
        "c": permit.customer_id,
        "b": permit.send_by,
        "d": written.decode(),
    }


def _names(batch: Batch, content: dict[str, Any]) -> None:
    for key, replaces in (("claims", False), ("names", True)):
        rows = [
            {"k": claim.kind, "h": name_hash(name).hex(), "t": claim.target}
            for name, claim in batch.names.items()
            if claim.replaces is replaces
        ]
        if rows:
            content[key] = rows


def _snapshots(batch: Batch, content: dict[str, Any]) -> None:
    topics = {kind: topic for topic, kind in SNAPSHOT_TOPICS.items()}
    rows = [
        {
            "o": aggregate.id,
            "v": aggregate.version,
            "t": topics[type(aggregate)],
            "s": write_snapshot(aggregate).decode(),
        }
        for aggregate in batch.snapshots
        if type(aggregate) in topics
    ]
    if rows:
        content["snapshots"] = rows
