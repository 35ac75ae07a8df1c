"""Loads the aggregates and look-ups that a batch of decisions needs, in one statement."""

import base64
from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

import orjson
from psycopg import AsyncConnection, AsyncRawCursor

from ledger.application.ports import Loaded, Need
from ledger.application.world import Binding, Name
from ledger.domain.permit import Permit
from ledger.store.log.encoding import name_hash
from ledger.store.log.transcoding import SNAPSHOT_TOPICS, read_as, read_event, read_snapshot
from ledger.store.statements import statement

Names: TypeAlias = dict[tuple[str, str], Name]
"""The requested outside names, by their kind and the digest that the result has."""


async def load_need(connection: AsyncConnection[Any], need: Need) -> Loaded:
    """Load everything in `need` in one statement. Raises psycopg.Error."""
    arguments, names = load_arguments(need)
    cursor = AsyncRawCursor(connection)
    texts = [argument.decode() for argument in arguments]
    await cursor.execute(statement("log", "load"), texts, prepare=True)
    row = await cursor.fetchone()
    assert row is not None
    return read_loaded(row[0], names)


def load_arguments(need: Need) -> tuple[tuple[bytes, ...], Names]:
    """The arguments of `load.sql` in PostgreSQL's text format, and the names by their digests."""
    kinds, digests = [], []
    names: Names = {}
    for name in need.names:
        digest = name_hash(name).hex()
        kinds.append(name[0])
        digests.append(digest)
        names[(name[0], digest)] = name
    lists = (
        map(str, need.aggregates),
        SNAPSHOT_TOPICS,
        need.permits,
        kinds,
        map(_BYTEA, digests),
        (_BYTEA(scope.hex()) for scope in need.bindings),
        need.owners,
        need.fingerprints,
        need.answers,
    )
    return tuple(_array(texts) for texts in lists), names


_BYTEA = "\\x{}".format


def _array(texts: Iterable[str]) -> bytes:
    """An array in PostgreSQL's text format (its manual, Array Input and Output Syntax)."""
    escaped = [text.replace("\\", "\\\\").replace('"', '\\"') for text in texts]
    return ('{"' + '","'.join(escaped) + '"}').encode() if escaped else b"{}"


def read_loaded(text: str | bytes, names: Names) -> Loaded:
    """Decode the result of `load.sql`."""
    found = orjson.loads(text)
    loaded = Loaded(now=datetime.fromisoformat(found["now"]), position=found["position"] or 0)
    for id_text, version, topic, state in found["snapshots"] or ():
        if topic in SNAPSHOT_TOPICS:
            id_ = UUID(id_text)
            loaded.aggregates[id_] = read_snapshot(id_, version, topic, state)
    for id_text, version, topic, state in found["events"] or ():
        id_ = UUID(id_text)
        event = read_event(id_, version, topic, state)
        loaded.aggregates[id_] = event.mutate(loaded.aggregates.get(id_))
    for doc in found["permits"] or ():
        loaded.permits[doc["permit_id"]] = read_as(Permit, doc)
    for kind, digest, target in found["names"] or ():
        loaded.names[names[(kind, digest)]] = target
    for scope, fingerprint, permit_id, created_at, status, body in found["bindings"] or ():
        loaded.bindings[bytes.fromhex(scope)] = Binding(
            bytes.fromhex(fingerprint),
            permit_id,
            datetime.fromisoformat(created_at),
            status,
            base64.b64decode(body) if body is not None else None,
        )
    for customer_id, invoice_id in found["owned"] or ():
        loaded.owned.setdefault(customer_id, []).append(invoice_id)
    for fingerprint, _, address in found["contacts"] or ():
        loaded.contacts.setdefault(fingerprint, address)
    for decision_id, answer in found["answers"] or ():
        loaded.answers[decision_id] = orjson.dumps(answer)
    return loaded
