"""Holds of addresses that were stored before they knew who told them: anybody may lift them."""

import json
from pathlib import Path
from uuid import UUID

from ledger.domain.hold import Hold
from ledger.domain.mailbox import Mailbox
from ledger.store.log.transcoding import read_event, write_state
from tests.support.build import at, days

_STORED = json.loads(
    (Path(__file__).parents[2] / "old_events" / "address.v1.json").read_text(encoding="utf-8")
)
_ID = UUID(int=9)


def test_they_are_read_and_written_as_version_2() -> None:
    mailbox = None
    for version, stored in enumerate(_STORED, 1):
        event = read_event(_ID, version, stored["topic"], dict(stored["state"]))
        mailbox = event.mutate(mailbox)
        written = json.loads(write_state(event))
        if stored["topic"] != "ledger:Address.Created":
            assert (written["class_version"], written["source"]) == (2, "")
        assert vars(read_event(_ID, version, stored["topic"], written)) == vars(event)
    assert isinstance(mailbox, Mailbox)
    since = at("2026-11-01T10:00:00Z")
    assert mailbox.holds.in_force(since + days(9)) == [("", Hold("unsubscribed", True, since))]
