"""A customer's timeline as an agent needs it: mails with what became of them, and denials."""

from collections.abc import Iterable, Mapping
from typing import Any

Mail = dict[str, Any]
_STATES = {"redeemed", "sent", "rejected", "unknown", "revoked", "expired"}


def mails_in(entries: Iterable[Mapping[str, Any]]) -> list[Mail]:
    """The mails and the denials of a timeline, the latest first.

    A mail has `permit_id` and `state`, a denial `denied`; each has its time, kind and sender.
    """
    found: list[Mail] = []
    by_permit: dict[str, Mail] = {}
    for entry in entries:
        data = entry["data"]
        permit = data.get("permit")
        if entry["kind"] == "decision" and data.get("code") is not None:
            found.append(_row(entry["at"], data) | {"denied": data["code"]})
        elif isinstance(permit, Mapping):
            mail = _row(entry["at"], permit)
            mail |= {"permit_id": permit["permit_id"], "state": permit["state"]}
            by_permit[permit["permit_id"]] = mail
            found.append(mail)
        elif data.get("permit_id") in by_permit and data.get("state") in _STATES:
            by_permit[data["permit_id"]]["state"] = data["state"]
    return found[::-1]


def _row(at: str, data: Mapping[str, Any]) -> Mail:
    return {"at": at, "kind": data.get("kind"), "sender": data.get("sender")}
