"""Loads what a batch of decisions needs, in one statement: aggregates and look-ups."""

import base64
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg import AsyncConnection

from ledger.application.ports import Loaded, Need
from ledger.application.world import Binding, Name
from ledger.domain.permit import Permit
from ledger.store.encoding import name_hash
from ledger.store.statements import statement
from ledger.store.transcoding import SNAPSHOT_TOPICS, read_as, read_event, read_snapshot


async def load_need(connection: AsyncConnection[Any], need: Need) -> Loaded:
    """Load what is needed in one statement. Raises psycopg.Error."""
    kinds, digests = [], []
    names: dict[tuple[str, str], Name] = {}
    for name in need.names:
        digest = name_hash(name)
        kinds.append(name[0])
        digests.append(digest)
        names[(name[0], digest.hex())] = name
    cursor = await connection.execute(
        statement("log", "load"),
        {
            "aggregates": list(need.aggregates),
            "snapshot_topics": list(SNAPSHOT_TOPICS),
            "permits": list(need.permits),
            "name_kinds": kinds,
            "name_hashes": digests,
            "scopes": list(need.bindings),
            "owners": list(need.owners),
            "fingerprints": list(need.fingerprints),
            "answers": list(need.answers),
        },
    )
    row = await cursor.fetchone()
    assert row is not None
    return _read_loaded(orjson.loads(row[0]), names)


def _read_loaded(found: dict[str, Any], names: dict[tuple[str, str], Name]) -> Loaded:
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
