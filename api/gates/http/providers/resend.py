"""Resend: POST /emails and /emails/batch; a batch is handed over mail by mail."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sendledger import Permit
from sendledger.adapters.resend import Resend as Client

from api.gates.carried import SEND
from api.gates.fate import Fate, deciding
from api.gates.http.call import Answer, BadCall, Call, json_answer, member_of
from api.gates.http.credentials import bearer
from api.gates.http.item import Fields, Item, data_part, text_parts
from api.gates.http.json_body import fields_of, items_of, json_of, no_time, objects_of, text
from api.gates.http.provider import Outgoing, Route, Rules, Whole
from api.gates.http.recipients import Addressed, plain, recipients

_KNOWN = frozenset(
    "from to cc bcc subject html text reply_to headers attachments tags template topic_id "
    "scheduled_at".split()
)
_MOST_MAILS = 100
_GOOD = (Fate.SENT, Fate.DROPPED)
_LONGEST_TAG = 256
_DENIED = 422


def _error(status: int, code: str, text: str) -> Answer:
    return json_answer(status, {"statusCode": status, "name": code, "message": text})


def _ids(wholes: Sequence[Whole]) -> list[dict[str, Any]]:
    return [{"id": member_of(one.answer, "id") or one.mail_id or ""} for one in wholes]


def _together(call: Call, wholes: Sequence[Whole], told: str) -> Answer:
    """The ids; with `x-batch-validation: permissive` also what went wrong, by index."""
    if call.header("x-batch-validation") == "permissive":
        bad = [(at, one) for at, one in enumerate(wholes) if one.fate not in _GOOD]
        good = [one for one in wholes if one.fate in _GOOD]
        errors = [{"index": at, "message": one.text} for at, one in bad]
        return json_answer(200, {"data": _ids(good)} | ({"errors": errors} if errors else {}))
    why = deciding(wholes)
    if not why:
        return json_answer(200, {"data": _ids(wholes)})
    return _error(503 if why[0].fate is Fate.LATER else _DENIED, why[0].code, told)


_ROUTES = {"/emails": Route("mail"), "/emails/batch": Route("batch", _together)}


class Resend:
    """See `Provider`."""

    name = "resend"
    url = "https://api.resend.com"
    client = Client("")
    passes = re.compile(
        r"(GET|HEAD) /.*|POST /emails/[^/]+/cancel"
        r"|(POST|PUT|PATCH|DELETE) /(templates|domains|webhooks)(/.*)?"
    )
    headers = frozenset({"authorization", "accept", "user-agent"})
    denied = _DENIED

    def credential(self, call: Call) -> str | None:
        """The bearer token."""
        return bearer(call)

    def route(self, path: str) -> Route | None:
        """The endpoint for one mail, or that for many."""
        return _ROUTES.get(path)

    def items(self, route: Route, call: Call, rules: Rules) -> list[Item]:
        """The mails. Raises BadCall."""
        body = json_of(call)
        if not route.is_batch:
            return [_item(call, body, rules, call.header("idempotency-key"))]
        found = items_of(body, min(_MOST_MAILS, rules.most), "a batch")
        return [_item(call, one, rules, None) for one in found]

    def outgoing(
        self, item: Item, addressed: Addressed, carried: Mapping[str, str], permit: Permit | None
    ) -> Outgoing:
        """The mail with the permit's idempotency key, which takes the place of the program's."""
        fields, own_key = item.rest
        body = {
            **fields,
            "to": [one.text for one in addressed.to],
            "cc": [one.text for one in addressed.cc] or None,
            "bcc": [one.text for one in addressed.bcc] or None,
            "headers": {**item.headers, **carried},
        }
        token = carried.get(SEND)
        if token and len(token) <= _LONGEST_TAG and " " not in token:
            body["tags"] = [*(body.get("tags") or ()), {"name": SEND, "value": token}]
        key = (permit.provider_idempotency_key or permit.permit_id) if permit else own_key
        headers = {"idempotency-key": key} if key else {}
        given = {name: value for name, value in body.items() if value is not None}
        return Outgoing(item.path, headers, given)

    def accepted(self, item: Item, mail_id: str) -> Answer:
        """`{"id": …}`."""
        return json_answer(200, {"id": mail_id})

    def error(self, status: int, code: str, text: str) -> Answer:
        """`{"statusCode", "name", "message"}`, where the name is the ledger's code."""
        return _error(status, code, text)


def _item(call: Call, body: Any, rules: Rules, own_key: str | None) -> Item:
    fields = fields_of(body, _KNOWN, rules.also, "the mail")
    no_time(fields, "scheduled_at")
    own = Fields(call)
    headers = fields.pop("headers", {})
    if not isinstance(headers, dict):
        raise BadCall("headers is an object")
    for name, value in headers.items():
        own.header(name, value)
    tags = objects_of(fields.get("tags"), "tags")
    fields["tags"] = [one for one in tags if not own.tag(one.get("name"), one.get("value"))] or None
    to, cc, bcc = (recipients(fields.pop(name, None)) for name in ("to", "cc", "bcc"))
    attachments = objects_of(fields.get("attachments"), "attachments")
    ids = [str(one["content_id"]) for one in attachments if one.get("content_id")]
    files = [{k: v for k, v in one.items() if k != "content_id"} for one in attachments]
    return Item(
        "/emails",
        text(fields, "from", "the mail"),
        Addressed(to, cc, bcc),
        plain(str(fields.get("subject", "")), "the subject"),
        own.headers,
        own.said,
        (
            *text_parts(fields.get("text"), fields.get("html"), content_ids=ids),
            data_part([files, fields.get("template")]),
        ),
        (fields, own_key),
    )
