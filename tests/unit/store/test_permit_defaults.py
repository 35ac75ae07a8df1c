"""What a field of a permit means where the log leaves it out: it may never mean another thing."""

import dataclasses

import orjson

from ledger.domain.permit import Lane, Permit, State
from ledger.store.log.transcoding import read_as, write_permit
from tests.support.build import at

OF_EVERY_PERMIT = {
    "permit_id",
    "kind",
    "lane",
    "state",
    "customer_id",
    "key_id",
    "sender",
    "redeem_required",
    "granted_at",
    "send_by",
}
LEFT_OUT = {
    "items": (),
    "thread_id": None,
    "invoice_id": None,
    "incident_id": None,
    "slots": (),
    "named": None,
    "address": None,
    "address_named": False,
    "redeemed_at": None,
    "attempt": None,
    "settled_at": None,
    "provider_message_id": None,
    "message_id": None,
    "overtaken": None,
    "control_version": 0,
    "idempotency": None,
    "rejections": 0,
    "action": None,
    "bounced": False,
    "imprint": "",
    "copies": (),
}


def test_the_defaults_are_what_the_log_relies_on() -> None:
    fields = dataclasses.fields(Permit)
    found = {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}
    assert {f.name for f in fields} - found.keys() == OF_EVERY_PERMIT
    assert found == LEFT_OUT


def test_a_permit_is_written_without_them_and_read_with_them() -> None:
    permit = Permit(
        "p1",
        "reply",
        Lane.REPLY,
        State.GRANTED,
        "cus_1",
        "key_1",
        "poller",
        True,
        at("2026-12-01T08:00Z"),
        at("2026-12-01T08:10Z"),
    )
    written = orjson.loads(write_permit(permit))
    assert written.keys() == OF_EVERY_PERMIT | {"items"}
    assert read_as(Permit, written) == permit
