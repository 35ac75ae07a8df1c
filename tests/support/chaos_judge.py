"""Judges what a chaos run left: no second mail, and no permit whose state is false."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tests.support.service import Service

STATES = ("granted", "redeemed", "sent", "rejected", "unknown", "revoked", "expired")
HELD_AFTER = 3
"""Rejections of one send that put it on hold, by the policy's default."""


def judged(
    service: Service, sender: str, counts: Mapping[str, int], sends: Sequence[str]
) -> dict[str, list[str]]:
    """The states of each send's permits; fails for a second mail and for a state that is false.

    `counts` are the mails of each send that somebody got; the send `s` is of the customer `c-s`.
    """
    states: dict[str, list[str]] = defaultdict(list)
    for state in STATES:
        cursor = None
        while True:
            page = service.get(
                "/v1/permits", sender=sender, state=state, limit=1000, cursor=cursor
            ).ok()
            for permit in page["items"]:
                states[permit["customer_id"].removeprefix("c-")].append(permit["state"])
            cursor = page["next"]
            if cursor is None:
                break
    assert set(counts) <= set(sends)
    for name in sends:
        held = [state for state in states[name] if state in ("sent", "unknown")]
        got = counts.get(name, 0)
        assert got <= 1, (name, states[name])
        assert len(held) <= 1, (name, states[name])
        assert not {"granted", "redeemed", "revoked"} & set(states[name]), (name, states[name])
        if "sent" in states[name]:
            assert got == 1, (name, states[name])
        if got:
            assert held, f"{name} went out, and its send is free: {states[name]}"
    return states
