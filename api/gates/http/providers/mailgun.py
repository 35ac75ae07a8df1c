"""Mailgun: POST /v3/{domain}/messages, a form; recipient-variables make a mail for each."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from sendledger import Permit
from sendledger.adapters.mailgun import Mailgun as Client

from api.gates.addresses import same_address
from api.gates.carried import SEND
from api.gates.http.call import Answer, BadCall, Call, json_answer
from api.gates.http.credentials import basic_password
from api.gates.http.form_body import Form, form_of
from api.gates.http.item import Fields, Item, data_part, text_parts
from api.gates.http.json_body import no_time
from api.gates.http.provider import Outgoing, Route, Rules
from api.gates.http.recipients import Addressed, plain, recipients

_KNOWN = frozenset(
    "from to cc bcc subject text html amp-html template t:version t:text t:variables "
    "recipient-variables o:tag o:dkim o:secondary-dkim o:secondary-dkim-public o:tracking "
    "o:tracking-clicks o:tracking-opens o:tracking-pixel-location-top o:require-tls "
    "o:skip-verification o:sending-ip o:sending-ip-pool o:testmode o:deliverytime "
    "o:deliverytime-optimize-period o:time-zone-localize o:suppress-headers".split()
)
_FILES = frozenset({"attachment", "inline"})
_TIMES = ("o:deliverytime", "o:deliverytime-optimize-period", "o:time-zone-localize")
_MESSAGES = re.compile(r"/v3/[A-Za-z0-9.-]+/messages")
_ROUTE = Route("mail")


class Mailgun:
    """See `Provider`."""

    name = "mailgun"
    url = "https://api.mailgun.net"
    client = Client("", "")
    passes = re.compile(
        r"(GET|HEAD) /v[1-5]/.*|(POST|PUT|PATCH|DELETE) /v3/[^/]+"
        r"/(templates|bounces|unsubscribes|complaints|whitelists|tags)(/.*)?"
    )
    headers = frozenset({"authorization", "x-mailgun-on-behalf-of", "accept", "user-agent"})
    denied = 403

    def credential(self, call: Call) -> str | None:
        """The password of the user `api`."""
        return basic_password(call)

    def route(self, path: str) -> Route | None:
        """The endpoint of a domain's mails in fields; that of whole MIME mails is none."""
        return _ROUTE if _MESSAGES.fullmatch(path) else None

    def items(self, route: Route, call: Call, rules: Rules) -> list[Item]:
        """The mail, or with recipient-variables one for each recipient. Raises BadCall."""
        form = form_of(call)
        _check_names(form, rules)
        no_time({name: form.one(name) for name in _TIMES}, *_TIMES)
        if form.one("o:testmode") not in (None, "", "no", "false", "False"):
            raise BadCall("test mode sends nothing: give such calls to the provider directly")
        to, cc, bcc = (recipients(form.fields.pop(name, None)) for name in ("to", "cc", "bcc"))
        written = form.fields.pop("recipient-variables", None)
        if written is None or not written[0].strip():
            return [_item(call, form, Addressed(to, cc, bcc), None)]
        variables = _variables(written)
        if cc or bcc:
            raise BadCall("with recipient-variables each recipient gets a mail: name them in `to`")
        if len(to) > rules.most:
            raise BadCall(f"a call has {rules.most} mails at most", 413)
        return [_item(call, form, Addressed((one,)), variables) for one in to]

    def outgoing(
        self, item: Item, addressed: Addressed, carried: Mapping[str, str], permit: Permit | None
    ) -> Outgoing:
        """The form with the headers as `h:` fields, and the send token as a variable."""
        fields, files = item.rest
        form = {
            **fields,
            **{f"h:{name}": [value] for name, value in {**item.headers, **carried}.items()},
            "to": [one.text for one in addressed.to],
            "cc": [one.text for one in addressed.cc],
            "bcc": [one.text for one in addressed.bcc],
        }
        if SEND in carried:
            form[f"v:{SEND}"] = [carried[SEND]]
        given = {name: values for name, values in form.items() if values}
        return Outgoing(item.path, {}, form=given, files=files)

    def accepted(self, item: Item, mail_id: str) -> Answer:
        """`{"id", "message"}`."""
        return json_answer(200, {"id": f"<{mail_id}>", "message": "Queued. Thank you."})

    def error(self, status: int, code: str, text: str) -> Answer:
        """`{"message"}`; it begins with the ledger's code."""
        return json_answer(status, {"message": text})


def _check_names(form: Form, rules: Rules) -> None:
    """Raises BadCall for a field that the gate does not know: it might name a recipient."""
    for name in form.fields:
        if name not in _KNOWN | rules.also and not name.startswith(("h:", "v:")):
            raise BadCall(
                f"the gate does not know the field {name[:60]!r}; if it names neither recipients "
                "nor a time, allow it in the gate's file, under [fields]"
            )
    if any(name not in _FILES for name, _ in form.files):
        raise BadCall("files are `attachment` or `inline`")


def _variables(written: list[str]) -> Mapping[str, Any]:
    try:
        found = json.loads(written[0]) if len(written) == 1 else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadCall("recipient-variables is an object in JSON")
    return {same_address(name): value for name, value in found.items()}


def _item(
    call: Call, form: Form, addressed: Addressed, variables: Mapping[str, Any] | None
) -> Item:
    own = Fields(call)
    fields: dict[str, list[str]] = {}
    for name, values in form.fields.items():
        if name[:2].lower() == "h:":
            if len(values) != 1:
                raise BadCall("a header is there twice")
            own.header(name[2:], values[0])
        elif name[:2].lower() != "v:" or not own.tag(name[2:], values[0]):
            fields[name] = values
    mine: Any = None
    if variables is not None:
        (only,) = addressed.to
        mine = variables.get(same_address(only.address), {})
        fields["recipient-variables"] = [json.dumps({only.address: mine})]
    sender = form.one("from")
    if not sender:
        raise BadCall("the mail needs from")
    files = [
        [field, name, hashlib.sha256(content).hexdigest()]
        for field, (name, content, _) in form.files
    ]
    template = [form.one("template"), form.one("t:version"), form.one("t:variables"), mine]
    return Item(
        call.path,
        sender,
        addressed,
        plain(form.one("subject") or "", "the subject"),
        own.headers,
        own.said,
        (
            *text_parts(form.one("text"), form.one("html"), form.one("amp-html")),
            data_part([files, template]),
        ),
        (fields, form.files),
    )
