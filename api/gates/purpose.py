"""What a mail is: which permit each of its recipients needs.

The mail's own header fields say it, else a rule, else what it answers; a mail of which nothing is
known is a notification under its fingerprint. Where the kind names the send by something else than
its recipient (an invoice, a thread, a customer) one permit covers all recipients: the others are
copies. Every other recipient has a permit of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import getaddresses
from typing import Any, Protocol

from sendledger import Ask

from api.gates.addresses import same_address
from api.gates.fingerprint import Fingerprints, Read
from api.gates.gate_file import Rule
from api.gates.kinds import ANSWER, KINDS, NOTICE, SEVERAL_INVOICES, TAKES_TO, TO_EACH
from api.gates.rules import Fit, Seen, fit_of

MOST_COPIES = 20
"""Copies that one permit may name (contract: Permits)."""
_MOST_INVOICES = 100
_LONGEST_ID = 255
_OF_HEADER = {
    "stage": "stage",
    "thread": "thread_id",
    "intent": "intent",
    "step": "step",
    "customer": "customer_id",
    "event-type": "event_type",
    "event-id": "event_id",
    "attempt": "attempt_id",
    "subscription": "subscription_id",
    "inbox": "inbox_id",
    "date": "date",
    "incident": "incident_id",
    "happened-at": "happened_at",
    "not-after": "not_after",
}
"""The fields of a request, by the header fields without `X-Ledger-`."""


class Mail(Read, Protocol):
    """A mail as far as it says what it is."""

    def all(self, name: str) -> list[str]:
        """The values of every header field of that name, decoded, in order."""
        ...

    def own(self) -> dict[str, list[str]]:
        """The values of the gate's own fields, by their names in lower case without the prefix."""
        ...


class BadHeader(Exception):
    """A header field of the gate is wrong; the message names it."""


@dataclass(frozen=True)
class Unit:
    """A permit to ask for, and whom its mail goes to; without `ask` the ledger is not asked.

    `instead` is asked where the ledger does not know what the mail answers.
    """

    recipients: tuple[str, ...]
    ask: Ask | None
    refused: str | None = None
    instead: tuple["Unit", ...] = ()


@dataclass(frozen=True)
class Envelope:
    """Who sends a mail to whom: the login, the sender, the recipients.

    `event_type` is that of a mail which is named by its fingerprint.
    """

    login: str | None
    sender: str
    recipients: tuple[str, ...]
    event_type: str


def units_of(mail: Mail, envelope: Envelope, rules: tuple[Rule, ...], key: bytes) -> list[Unit]:
    """The permits that the mail needs, in the order of its recipients; unguarded ones come last.

    `key` is that of the fingerprints. Raises BadHeader.
    """
    said = _said(mail)
    seen = Seen(envelope.login, envelope.sender, mail.first("Subject") or "")
    fits = {one: fit_of(rules, seen, one) for one in dict.fromkeys(envelope.recipients)}
    unguarded = tuple(one for one, fit in fits.items() if fit.kind == "unguarded")
    guarded = [one for one in fits if one not in unguarded]
    named = _named_by(mail, envelope, key)
    units: list[Unit] = []
    for kind, fields, group in _groups(mail, said, guarded, fits):
        refused = fits[group[0]].refused
        if kind == "fingerprint":
            units += [Unit((one,), named(one), fits[one].refused) for one in group]
        elif kind in TO_EACH and "customer_id" not in fields:
            units += [Unit((one,), _ask(kind, fields, one, ()), fits[one].refused) for one in group]
        else:
            main, copies = _main_first(mail, group)
            ask = _ask(kind, fields, main, copies)
            guessed = kind == ANSWER and said is None and fits[main].kind is None
            each = tuple(Unit((one,), named(one), fits[one].refused) for one in group)
            units.append(Unit((main, *copies), ask, refused, each if guessed else ()))
    if unguarded:
        units.append(Unit(unguarded, None))
    return units


def _groups(
    mail: Mail,
    said: tuple[str, dict[str, Any]] | None,
    recipients: Sequence[str],
    fits: Mapping[str, Fit],
) -> list[tuple[str, dict[str, Any], list[str]]]:
    """Kind, fields and recipients of what is asked together."""
    if said is not None:
        return [(*said, list(recipients))] if recipients else []
    found: list[tuple[str, dict[str, Any], list[str]]] = []
    answered = _answered(mail)
    for one in recipients:
        fit = fits[one]
        kind, fields = fit.kind or "fingerprint", dict(fit.fields)
        if fit.kind == ANSWER:
            fields = {**(answered or {}), **fields}
        elif fit.kind is None and answered is not None:
            kind, fields = ANSWER, answered
        group = next((g for k, f, g in found if (k, f) == (kind, fields)), None)
        if group is None:
            found.append((kind, fields, [one]))
        else:
            group.append(one)
    return found


def _said(mail: Mail) -> tuple[str, dict[str, Any]] | None:
    """Kind and fields as the mail's own header says them, None where it says nothing."""
    own = mail.own()
    for name in ("permit", "send"):
        own.pop(name, None)
    if not own:
        return None
    kind = _one("kind", own.pop("kind", []))
    if kind not in KINDS:
        raise BadHeader(f"X-Ledger-Kind must be one of {', '.join(KINDS)}")
    fields: dict[str, Any] = {}
    if invoices := own.pop("invoice", None):
        fields |= _invoices(kind, [one.strip() for v in invoices for one in v.split(",")])
    if kind == ANSWER:
        fields |= _answered(mail) or {}
    for name, values in own.items():
        if name not in _OF_HEADER:
            raise BadHeader(f"X-Ledger-{name.title()} is no field of the gate")
        fields[_OF_HEADER[name]] = _one(name, values)
    if "step" in fields:
        fields["step"] = _whole(fields["step"])
    return kind, fields


def _invoices(kind: str, ids: list[str]) -> dict[str, Any]:
    if not all(ids) or len(ids) > _MOST_INVOICES:
        raise BadHeader(f"X-Ledger-Invoice holds 1 to {_MOST_INVOICES} ids")
    if kind in SEVERAL_INVOICES:
        return {"invoices": ids}
    if len(ids) != 1:
        raise BadHeader(f"a {kind} has one X-Ledger-Invoice")
    return {"invoice_id": ids[0]}


def _one(name: str, values: list[str]) -> str:
    if len(values) != 1 or not values[0]:
        raise BadHeader(f"X-Ledger-{name.title()} must be there once, with a value")
    return values[0]


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadHeader("X-Ledger-Step is a whole number")
    return int(text)


def _answered(mail: Mail) -> dict[str, Any] | None:
    """The message that the mail answers; its thread is that of the first reference."""
    answered = (mail.first("In-Reply-To") or "").split()
    references = (mail.first("References") or "").split()
    if not answered and not references:
        return None
    message_id = answered[0] if answered else references[-1]
    return {
        "thread_id": _thread(references[0] if references else message_id),
        "in_reply_to": message_id,
    }


def _thread(message_id: str) -> str:
    return message_id.strip("<>")[:_LONGEST_ID] or "-"


def _named_by(mail: Mail, envelope: Envelope, key: bytes) -> Callable[[str], Ask]:
    fingerprints = Fingerprints(key, envelope.sender, mail)

    def ask(recipient: str) -> Ask:
        event_id = fingerprints.of(recipient)
        fields = {"event_type": envelope.event_type, "event_id": event_id, "to": recipient}
        return Ask(NOTICE, fields)

    return ask


def _main_first(mail: Mail, recipients: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Whom the mail is for, which is the first in `To`, and who gets a copy."""
    named = [same_address(address) for _, address in getaddresses(mail.all("To")) if address]
    by_name = {same_address(one): one for one in recipients}
    main = next((by_name[one] for one in named if one in by_name), recipients[0])
    copies = tuple(one for one in recipients if one != main)
    if len(copies) > MOST_COPIES:
        raise BadHeader(f"a permit of this kind covers {MOST_COPIES + 1} recipients at most")
    return main, copies


def _ask(kind: str, fields: Mapping[str, Any], to: str, copies: tuple[str, ...]) -> Ask:
    given = dict(fields)
    if kind in TAKES_TO:
        given["to"] = to
    if copies:
        given["cc"] = list(copies)
    return Ask(kind, given)
