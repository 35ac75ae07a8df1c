"""What a mail carries that has been through a gate, and whom it may go to."""

from sendledger import Granted, Permit

from api.gates.addresses import same_address

OWN_PREFIX = "x-ledger-"
"""Header fields of the gates, in lower case; they are taken off before a mail goes on."""
PERMIT = "X-Ledger-Permit"
SEND = "X-Ledger-Send"
OTHER_ADDRESS = (
    "other_address: the ledger knows another address for this mail. Mail to that one, or tell "
    "the ledger of the new one."
)
BEEN_HERE = "the mail has been through a gate already"


def carried(permit: Permit, own_message_id: str | None) -> dict[str, str]:
    """What the gate adds to the head of a mail: the program's Message-ID stays."""
    found = {
        PERMIT: permit.permit_id,
        SEND: permit.send_token,
        "Message-ID": None if own_message_id else permit.message_id,
    }
    return {name: value for name, value in found.items() if value}


def is_for_another(granted: Granted, recipient: str) -> bool:
    """Would the mail go to somebody else than its permit says? The ledger may know no address."""
    to = granted.body.get("to")
    return isinstance(to, str) and same_address(to) != same_address(recipient)
