"""Postmark: POST /email, /email/withTemplate, and both batches, handed over mail by mail."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sendledger import Permit
from sendledger.adapters.postmark import Postmark as Client

from api.gates.carried import SEND
from api.gates.fate import Fate
from api.gates.http.call import Answer, BadCall, Call, json_answer, member_of
from api.gates.http.item import Fields, Item, data_part, text_parts
from api.gates.http.json_body import fields_of, items_of, json_of, objects_of, text
from api.gates.http.provider import Outgoing, Route, Rules, Whole
from api.gates.http.recipients import Addressed, Recipient, plain, recipients

_KNOWN = frozenset(
    "From To Cc Bcc Subject Tag HtmlBody TextBody ReplyTo Headers TrackOpens TrackLinks Metadata "
    "Attachments MessageStream".split()
)
_OF_TEMPLATES = _KNOWN | {"TemplateId", "TemplateAlias", "TemplateModel", "InlineCss"}
_MOST_MAILS = 500
_NOT_ALLOWED, _MAINTENANCE, _INVALID, _BAD_TOKEN = 405, 100, 300, 10
"""Postmark's own error codes for what comes nearest."""
_LONGEST_METADATA = 80
_DENIED = 422


def _error(status: int, text: str) -> dict[str, Any]:
    codes = {401: _BAD_TOKEN, 503: _MAINTENANCE, 400: _INVALID}
    return {"ErrorCode": codes.get(status, _NOT_ALLOWED), "Message": text}


def _together(call: Call, wholes: Sequence[Whole], told: str) -> Answer:
    """200 with what became of each mail, as Postmark does."""
    found = []
    for one in wholes:
        is_own = member_of(one.answer, "ErrorCode") is not None
        status = 503 if one.fate is Fate.LATER else _DENIED
        found.append(json.loads(one.answer.body) if is_own else _error(status, one.text))
    return json_answer(200, found)


_ONE, _BATCH = Route("mail"), Route("batch", _together)
_TEMPLATE, _TEMPLATES = Route("template"), Route("templates", _together)
_ROUTES = {
    "/email": _ONE,
    "/email/batch": _BATCH,
    "/email/withtemplate": _TEMPLATE,
    "/email/batchwithtemplates": _TEMPLATES,
}


class Postmark:
    """See `Provider`."""

    name = "postmark"
    url = "https://api.postmarkapp.com"
    client = Client("")
    passes = re.compile(
        r"(GET|HEAD) /.*|PUT /bounces/[^/]+/activate"
        r"|(POST|PUT|PATCH|DELETE) /(templates|webhooks)(/.*)?"
        r"|POST /message-streams/[^/]+/suppressions(/delete)?"
    )
    headers = frozenset(
        {"x-postmark-server-token", "x-postmark-account-token", "accept", "user-agent"}
    )
    denied = _DENIED

    def credential(self, call: Call) -> str | None:
        """The server token."""
        return call.header("x-postmark-server-token")

    def route(self, path: str) -> Route | None:
        """One of the four endpoints, whatever its case: libraries write a slash after some."""
        return _ROUTES.get(path.lower().rstrip("/"))

    def items(self, route: Route, call: Call, rules: Rules) -> list[Item]:
        """The mails. Raises BadCall."""
        body = json_of(call)
        if route is _TEMPLATES:
            body = fields_of(body, frozenset({"Messages"}), frozenset(), "the body").get("Messages")
        if route.is_batch:
            found = items_of(body, min(_MOST_MAILS, rules.most), "a batch")
        else:
            found = [body]
        is_template = route in (_TEMPLATE, _TEMPLATES)
        return [_item(call, one, rules, is_template) for one in found]

    def outgoing(
        self, item: Item, addressed: Addressed, carried: Mapping[str, str], permit: Permit | None
    ) -> Outgoing:
        """The mail with X-PM-KeepID, so that a Message-ID stays."""
        headers = {**item.headers, **carried}
        if any(name.lower() == "message-id" for name in headers):
            headers["X-PM-KeepID"] = "true"
        body = {
            **item.rest,
            "To": _joined(addressed.to),
            "Cc": _joined(addressed.cc),
            "Bcc": _joined(addressed.bcc),
            "Headers": [{"Name": name, "Value": value} for name, value in headers.items()],
        }
        token = carried.get(SEND)
        if token and len(token) <= _LONGEST_METADATA:
            body["Metadata"] = {**(body.get("Metadata") or {}), SEND: token}
        return Outgoing(item.path, {}, {k: v for k, v in body.items() if v not in (None, "")})

    def accepted(self, item: Item, mail_id: str) -> Answer:
        """As Postmark answers, without a time."""
        to = _joined(item.addressed.to)
        return json_answer(200, {"To": to, "MessageID": mail_id, "ErrorCode": 0, "Message": "OK"})

    def error(self, status: int, code: str, text: str) -> Answer:
        """`{"ErrorCode", "Message"}`; the message begins with the ledger's code."""
        return json_answer(status, _error(status, text))


def _joined(found: Sequence[Recipient]) -> str:
    return ", ".join(one.text for one in found)


def _item(call: Call, body: Any, rules: Rules, is_template: bool) -> Item:
    fields = fields_of(body, _OF_TEMPLATES if is_template else _KNOWN, rules.also, "the mail")
    own = Fields(call)
    for one in objects_of(fields.pop("Headers", None), "Headers"):
        given = {str(name).lower(): value for name, value in one.items()}
        own.header(given.get("name"), given.get("value"))
    metadata = fields.get("Metadata", {})
    if not isinstance(metadata, dict):
        raise BadCall("Metadata is an object")
    fields["Metadata"] = {k: v for k, v in metadata.items() if not own.tag(k, v)} or None
    to, cc, bcc = (recipients(fields.pop(name, None)) for name in ("To", "Cc", "Bcc"))
    attachments = objects_of(fields.get("Attachments"), "Attachments")
    named = [str(one["ContentID"]) for one in attachments if one.get("ContentID")]
    ids = [one.removeprefix("cid:") for one in named]
    files = [{k: v for k, v in one.items() if k != "ContentID"} for one in attachments]
    template = [fields.get(name) for name in ("TemplateId", "TemplateAlias", "TemplateModel")]
    return Item(
        "/email/withTemplate" if is_template else "/email",
        text(fields, "From", "the mail"),
        Addressed(to, cc, bcc),
        plain(str(fields.get("Subject", "")), "the subject"),
        own.headers,
        own.said,
        (
            *text_parts(fields.get("TextBody"), fields.get("HtmlBody"), content_ids=ids),
            data_part([files, template]),
        ),
        fields,
    )
