"""The kinds of mail as gates know them: by the client, which has a function for each kind."""

from inspect import Parameter, signature
from typing import get_args

from sendledger import kinds

from api.contract.fields import Kind

KINDS: tuple[str, ...] = get_args(Kind)
"""All kinds."""
_FIELDS = {kind: signature(getattr(kinds, kind)).parameters for kind in KINDS}


def _with(*fields: str) -> frozenset[str]:
    return frozenset(kind for kind, known in _FIELDS.items() if set(fields) <= set(known))


def _must_name(field: str) -> frozenset[str]:
    needed = Parameter.empty
    return frozenset(kind for kind in _with(field) if _FIELDS[kind][field].default is needed)


TAKES_TO = _with("to")
"""The kinds whose request has a `to`; those of others go where the ledger says."""
TO_EACH = TAKES_TO - _must_name("thread_id")
"""The kinds that each recipient gets for themselves: those that need no thread."""
SEVERAL_INVOICES = _with("invoices")
"""The kinds that are about several invoices at once."""
(ANSWER,) = _with("in_reply_to")
"""The kind that answers a message."""
(NOTICE,) = _with("event_type", "event_id")
"""The kind that is named by an event: what a mail is asked for as that says nothing of itself."""
