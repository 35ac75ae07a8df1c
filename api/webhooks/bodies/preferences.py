"""Facts about addresses: whoever may no longer be mailed there, and who may again."""

from datetime import datetime

from api.webhooks.bodies.mail_events import bare_address
from api.webhooks.bodies.record import checked_text
from api.webhooks.provider import Fact, Settings
from ledger.application.kinds.registry import OPTIONAL

UNSUBSCRIBED, BOUNCED, COMPLAINED, BLOCKED = "unsubscribed", "bounced", "complained", "blocked"
"""Why an address is held; an address is released by the reason that it was held for."""


def preference(
    settings: Settings,
    id: str,
    address: str,
    reason: str,
    time: datetime | None,
    *,
    held: bool,
    whole: bool = True,
) -> Fact:
    """`address.hold` or `address.unhold` for one reason; `time` None is arrival.

    `whole` says that the provider mails the address nothing any more. Where it leaves out only a
    list, a group or a topic, the hold is for the kinds of mail that people subscribe to. It lifts
    only what the provider itself told: it does not know what another one stopped. Raises Unusable
    where there is no address.
    """
    data: dict[str, object] = {"address": bare_address(address, "the recipient"), "reason": reason}
    if not whole:
        data["kinds"] = list(OPTIONAL)
    if not held:
        data["told_by"] = settings.source
    kind = "address.hold" if held else "address.unhold"
    return Fact(checked_text(id, "the event's id"), settings.source, kind, time, data)


def of_list(reason: str, what: str, name: str) -> str:
    """The reason of a hold that one list, group or topic is behind, so that none lifts another's.

    Names of lists are chosen by their owners: an `@` would make one look like an address.
    """
    return f"{reason}: {what} {name}".replace("@", " at ")[:255]
