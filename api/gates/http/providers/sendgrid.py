"""SendGrid: POST /v3/mail/send; each personalization is a mail of its own."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sendledger import Permit
from sendledger.adapters.sendgrid import SendGrid as Client

from api.gates.carried import SEND
from api.gates.http.call import Answer, BadCall, Call, json_answer
from api.gates.http.credentials import bearer
from api.gates.http.item import Fields, Item, data_part, text_parts
from api.gates.http.json_body import fields_of, items_of, json_of, no_time, objects_of, text
from api.gates.http.provider import Outgoing, Route, Rules
from api.gates.http.recipients import Addressed, Recipient, plain, recipient

_KNOWN = frozenset(
    "personalizations from reply_to reply_to_list subject content attachments template_id headers "
    "categories custom_args asm ip_pool_name mail_settings tracking_settings sections "
    "send_at batch_id".split()
)
_OF_ONE = frozenset(
    "to cc bcc from subject headers substitutions dynamic_template_data custom_args send_at".split()
)
_SETTINGS = frozenset(
    "bypass_list_management bypass_spam_management bypass_bounce_management "
    "bypass_unsubscribe_management footer sandbox_mode spam_check bcc".split()
)
_ROUTE = Route("mail")


class SendGrid:
    """See `Provider`."""

    name = "sendgrid"
    url = "https://api.sendgrid.com"
    client = Client("")
    passes = re.compile(
        r"(GET|HEAD) /v3/.*|(POST|PUT|PATCH|DELETE) /v3/(templates|suppression|asm)(/.*)?"
    )
    headers = frozenset({"authorization", "on-behalf-of", "accept", "user-agent"})
    denied = 403

    def credential(self, call: Call) -> str | None:
        """The bearer token."""
        return bearer(call)

    def route(self, path: str) -> Route | None:
        """The one endpoint."""
        return _ROUTE if path == "/v3/mail/send" else None

    def items(self, route: Route, call: Call, rules: Rules) -> list[Item]:
        """A mail for each personalization. Raises BadCall."""
        fields = fields_of(json_of(call), _KNOWN, rules.also, "the call")
        no_time(fields, "send_at", "batch_id")
        _check_settings(fields)
        found = items_of(fields.pop("personalizations", None), rules.most, "personalizations")
        return [_item(call, fields, one) for one in found]

    def outgoing(
        self, item: Item, addressed: Addressed, carried: Mapping[str, str], permit: Permit | None
    ) -> Outgoing:
        """The call with one personalization, which has the headers and the variables."""
        common, one, variables = item.rest
        person = {
            **one,
            "to": _objects(addressed.to),
            "cc": _objects(addressed.cc),
            "bcc": _objects(addressed.bcc),
            "headers": {**item.headers, **carried},
            "custom_args": {**variables, **({SEND: carried[SEND]} if SEND in carried else {})},
        }
        person = {name: value for name, value in person.items() if value}
        return Outgoing(item.path, {}, {**common, "personalizations": [person]})

    def accepted(self, item: Item, mail_id: str) -> Answer:
        """202 with the id in a header."""
        return Answer(202, b"", {"x-message-id": mail_id})

    def error(self, status: int, code: str, text: str) -> Answer:
        """`{"errors": [{"message", …}], "id"}`; the message begins with the code."""
        return json_answer(
            status, {"errors": [{"message": text, "field": None, "help": None}], "id": code}
        )


def _item(call: Call, common: Mapping[str, Any], person: Any) -> Item:
    one = fields_of(person, _OF_ONE, frozenset(), "a personalization")
    no_time(one, "send_at")
    own = Fields(call)
    variables: dict[str, Any] = {}
    # What a personalization says counts before what stands for all.
    for given in (common, one):
        headers, arguments = given.get("headers", {}), given.get("custom_args", {})
        if not isinstance(headers, dict) or not isinstance(arguments, dict):
            raise BadCall("headers and custom_args are objects")
        for name, value in headers.items():
            own.header(name, value)
        variables |= {k: v for k, v in arguments.items() if not own.tag(k, v)}
    to, cc, bcc = (_people(one.pop(name, None)) for name in ("to", "cc", "bcc"))
    sender = one.get("from") or common.get("from")
    if not isinstance(sender, dict):
        raise BadCall("from is an object with an email")
    rest = {k: v for k, v in common.items() if k not in ("headers", "custom_args")}
    contents = objects_of(common.get("content"), "content")
    attachments = objects_of(common.get("attachments"), "attachments")
    ids = [str(file["content_id"]) for file in attachments if file.get("content_id")]
    files = [{k: v for k, v in file.items() if k != "content_id"} for file in attachments]
    data = [one.get("substitutions"), one.get("dynamic_template_data"), common.get("sections")]
    return Item(
        "/v3/mail/send",
        text(sender, "email", "from"),
        Addressed(to, cc, bcc),
        plain(str(one.get("subject") or common.get("subject") or ""), "the subject"),
        own.headers,
        own.said,
        (
            *(
                part
                for content in contents
                for part in text_parts(content.get("type"), content.get("value"), content_ids=ids)
            ),
            data_part([files, common.get("template_id"), data]),
        ),
        (rest, {k: v for k, v in one.items() if k not in ("headers", "custom_args")}, variables),
    )


def _people(found: Any) -> tuple[Recipient, ...]:
    people = [
        fields_of(one, frozenset({"email", "name"}), frozenset(), "a recipient")
        for one in objects_of(found, "recipients")
    ]
    return tuple(recipient(one.get("email"), one.get("name")) for one in people)


def _objects(found: Sequence[Recipient]) -> list[dict[str, str]]:
    return [{"email": one.address, **({"name": one.name} if one.name else {})} for one in found]


def _check_settings(fields: Mapping[str, Any]) -> None:
    """Raises BadCall for settings that add a recipient, or send nothing."""
    given = fields_of(fields.get("mail_settings", {}), _SETTINGS, frozenset(), "mail_settings")
    if "bcc" in given:
        raise BadCall("mail_settings.bcc names a recipient; name it in the personalization")
    sandbox = given.get("sandbox_mode")
    if sandbox and sandbox != {"enable": False}:
        raise BadCall("sandbox mode sends nothing: give such calls to the provider directly")
