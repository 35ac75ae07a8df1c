"""Facts about mails, built the same way for every mail provider: deliveries and messages."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from email.utils import parseaddr

from api.webhooks.bodies.moments import rfc3339
from api.webhooks.bodies.record import LONGEST_ID, checked_text, usable_address
from api.webhooks.bodies.unusable import Unusable
from api.webhooks.provider import Fact, Rejected, Settings, Translation
from ledger.domain.automatic import first_address
from ledger.domain.identity import message_name

LOOP_HEADERS = frozenset(
    """auto-submitted content-type feedback-id list-id list-unsubscribe message-id precedence
    x-auto-response-suppress x-autorespond x-autoreply x-failed-recipients""".split()
)
"""Headers by which mail written by a machine is known (RFC 3834); no others are passed on."""


def delivery(
    settings: Settings,
    provider: str,
    id: str,
    event: str,
    time: datetime | None,
    *,
    provider_message_id: str | None = None,
    message_id: str | None = None,
    recipient: str | None = None,
    send_token: str | None = None,
) -> Translation:
    """A delivery report: `event` is `delivered`, `bounced` or `complained`, `time` None is arrival.

    `recipient` is whom it speaks of: what becomes of a copy is the copy's. Unnamed, or named by
    something that is no address, it is whoever the mail was for. `send_token` is what the mail
    carries in `X-Ledger-Send`, where the provider tells. A bounce or complaint that names an
    address and no mail holds the address, as of its arrival.
    """
    data: dict[str, object] = {"provider": provider, "event": event}
    if provider_message_id:
        data["provider_message_id"] = provider_message_id
    if message_id:
        data["message_id"] = message_id
    if send_token:
        data["send_token"] = send_token
    names_mail = len(data) > 2
    id = checked_text(id, "the event's id")
    address = parseaddr(recipient or "")[1]
    if address and usable_address(address):
        data["recipient"] = address
    if not names_mail:
        if event == "delivered" or "recipient" not in data:
            raise Unusable("missing_field", "the delivery report names no message")
        held: dict[str, object] = {"address": address, "reason": event}
        return Translation(facts=(Fact(id, settings.source, "address.hold", None, held),))
    return Translation(facts=(Fact(id, settings.source, "delivery", time, data),))


def not_delivered(reason: str) -> Translation:
    """A mail that the provider gave up on without saying that its address is bad."""
    return Translation(rejected=(Rejected("delivery_failed", reason),))


def message(
    settings: Settings,
    id: str,
    *,
    thread_id: str,
    message_id: str,
    direction: str,
    sender: str,
    recipient: str | None,
    time: datetime,
    references: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    return_path: str | None = None,
    reply_to: str | None = None,
    reports: Sequence[Mapping[str, str]] = (),
) -> Translation:
    """A message of a thread as `thread.message`; names beside the addresses are dropped.

    Without a `reply_to` the header `Reply-To` says where a reply goes; one that is no address is
    left out, as the sender is there to reply to.
    """
    data: dict[str, object] = {
        "thread_id": thread_id,
        "message_id": message_id,
        "direction": direction,
        "from": bare_address(sender, "the sender"),
        "at": rfc3339(time),
    }
    if recipient:
        data["to"] = bare_address(recipient, "the recipient")
    wanted = first_address(reply_to or (headers or {}).get("reply-to", ""))
    if wanted is not None and usable_address(wanted):
        data["reply_to"] = wanted
    if reports:
        data["reports"] = [dict(report) for report in reports]
    known = {name: one_line(text) for name, text in (headers or {}).items() if name in LOOP_HEADERS}
    if "message-id" in known and headers is not None:
        known["message-id"] = one_line(message_name(headers["message-id"]))
    if references:
        data["references"] = list(references)
    if known:
        data["headers"] = known
    if return_path is not None:
        data["return_path"] = one_line(return_path)
    id = checked_text(id, "the event's id")
    return Translation(facts=(Fact(id, settings.source, "thread.message", time, data),))


def bare_address(text: str, where: str) -> str:
    """The address in `Name <address>`. Raises Unusable where there is none."""
    address = parseaddr(text)[1]
    if not usable_address(address):
        raise Unusable("unusable_address", f"{where} is not an address")
    return address


def one_line(text: str) -> str:
    """A header's value unfolded to one line of at most 255 characters without control characters.

    Cutting it is harmless: what marks a mail as automatic stands at the beginning.
    """
    printable = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return printable[:LONGEST_ID]


def merged(translations: Iterable[Translation]) -> Translation:
    """Several translations as one; the first reason for ignoring stands for all."""
    parts = list(translations)
    ignored = next((part.ignored for part in parts if part.ignored), None)
    return Translation(
        facts=tuple(fact for part in parts for fact in part.facts),
        ignored=ignored,
        rejected=tuple(rejected for part in parts for rejected in part.rejected),
        refresh=tuple(refresh for part in parts for refresh in part.refresh),
    )
