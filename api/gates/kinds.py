"""The kinds of mail as gates know them: by the HTTP schema, which has a request for each kind."""

from typing import Any, get_args

from api.contract.permits import PermitRequest

_REQUESTS: dict[str, Any] = {
    get_args(request.model_fields["kind"].annotation)[0]: request
    for request in get_args(get_args(PermitRequest)[0])
}


def _with(*fields: str) -> frozenset[str]:
    return frozenset(k for k, r in _REQUESTS.items() if set(fields) <= set(r.model_fields))


KINDS: tuple[str, ...] = tuple(_REQUESTS)
"""All kinds."""
TAKES_TO = _with("to")
"""The kinds whose request has a `to`; those of others go where the ledger says."""
TO_EACH = frozenset(
    kind
    for kind in TAKES_TO
    if (thread := _REQUESTS[kind].model_fields.get("thread_id")) is None or not thread.is_required()
)
"""The kinds that each recipient gets for themselves: those that need no thread."""
SEVERAL_INVOICES = _with("invoices")
"""The kinds that are about several invoices at once."""
(ANSWER,) = _with("in_reply_to")
"""The kind that answers a message."""
(NOTICE,) = _with("event_type", "event_id")
"""The kind that is named by an event: what a mail is asked for as that says nothing of itself."""
