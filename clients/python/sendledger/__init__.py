"""Ask the send ledger before you mail: each real-world mail at most once.

`Ledger` and `AsyncLedger` are the clients, `kinds` makes requests, `Denied` and `Unavailable` mean
that nothing may be sent.
"""

from sendledger import kinds
from sendledger.client import AsyncLedger, Ledger
from sendledger.delivery import Delivered, InDoubt, NotDelivered, Refused
from sendledger.errors import Denied, LedgerError, Original, OutcomeGiven, Unavailable
from sendledger.flows import SendResult
from sendledger.kinds import Ask
from sendledger.observing import CallRecord, Hook, OutcomeRecord
from sendledger.pace import Pace
from sendledger.permit import Granted, Outcome, Permit

__all__ = [
    "Ask",
    "AsyncLedger",
    "CallRecord",
    "Delivered",
    "Denied",
    "Granted",
    "Hook",
    "InDoubt",
    "Ledger",
    "LedgerError",
    "NotDelivered",
    "Original",
    "Outcome",
    "OutcomeGiven",
    "OutcomeRecord",
    "Pace",
    "Permit",
    "Refused",
    "SendResult",
    "Unavailable",
    "kinds",
]
