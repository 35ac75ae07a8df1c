"""What a text is the name of: an address, a Message-ID, a token of ours, or any id."""

import uuid
from dataclasses import dataclass

from api.contract.translation import Translator
from api.running.parts import Parts
from ledger.application.ports import Loaded, Need
from ledger.domain.customer import Customer
from ledger.domain.identity import BadAddress, aggregate_id, message_name
from ledger.domain.incident import Incident
from ledger.domain.invoice import Invoice
from ledger.domain.job import Job
from ledger.domain.thread import Thread
from ledger.store.alerts.outbox import find_alert
from ledger.store.keys import caller_named
from ledger.store.looking_back.journal import get_decision

MOST_CUSTOMERS = 100
"""How many customers of one address are named."""
_KINDS: dict[str, type[Customer | Invoice | Thread | Incident | Job]] = {
    "customer": Customer,
    "invoice": Invoice,
    "thread": Thread,
    "incident": Incident,
    "job": Job,
}


@dataclass(frozen=True, slots=True)
class Match:
    """A thing that goes by the text: what it is, its id, and by what it was found.

    `customer_id` is whom it concerns, as it is on record.
    """

    what: str
    id: str
    by: str
    customer_id: str | None = None


async def find(parts: Parts, translator: Translator, text: str) -> list[Match]:
    """Everything that goes by the text, in no more than a handful of look-ups by index."""
    matches = await _by_address(parts, translator, text)
    message, sent = ("message", message_name(text)), ("sent_message", message_name(text))
    provider = ("provider_message", text)
    proof, own_id = parts.identity.proof_in(text, text), _uuid(text)
    ours = proof.permit_id if proof is not None else None
    need = Need(
        aggregates={aggregate_id(kind, text) for kind in _KINDS},
        names={message, sent, provider},
        permits={id_ for id_ in (own_id, _uuid(ours)) if id_ is not None},
    )
    found = await parts.reader.load(need)
    for kind, type_ in _KINDS.items():
        thing = found.aggregates.get(aggregate_id(kind, text))
        if isinstance(thing, type_):
            matches.append(Match(kind, text, "id", _owner(thing)))
    matches += _permits(found, ours, own_id)
    if message in found.names:
        matches.append(Match("thread", found.names[message], "Message-ID"))
    for name, by in ((sent, "Message-ID"), (provider, "provider's message id")):
        if name in found.names:
            matches.append(Match("permit", found.names[name], by))
    return matches + await _by_own_id(parts, text, own_id)


def _owner(thing: Customer | Invoice | Thread | Incident | Job) -> str | None:
    """Whom it concerns: of a customer who was merged, the one that they turned out to be."""
    if isinstance(thing, Customer):
        return thing.merged_into or thing.customer_id
    return thing.customer_id if isinstance(thing, Invoice | Thread) else None


def _permits(found: Loaded, ours: str | None, own_id: str | None) -> list[Match]:
    return [
        Match("permit", permit_id, by, found.permits[permit_id].customer_id)
        for permit_id, by in ((ours, "Message-ID or token"), (own_id, "id"))
        if permit_id is not None and permit_id in found.permits
    ]


async def _by_address(parts: Parts, translator: Translator, text: str) -> list[Match]:
    """The customers who have or had it, where it can be an address."""
    try:
        fingerprint = translator.address(text).fingerprint
    except BadAddress:
        return []
    matches = []
    for told in await parts.reader.customers_at(fingerprint, MOST_CUSTOMERS):
        customer, _ = await parts.reader.customer(told)
        if customer is not None:
            matches.append(Match("customer", customer.customer_id, "address", told))
    return list(dict.fromkeys(matches))


async def _by_own_id(parts: Parts, text: str, own_id: str | None) -> list[Match]:
    """Decisions, alerts and keys, which the ledger itself gave an id."""
    matches = []
    async with parts.connections.use() as connection:
        decision = await get_decision(connection, own_id) if own_id is not None else None
        if own_id is not None and decision is not None:
            matches.append(Match("decision", own_id, "id", decision["customer_id"]))
        if text.isascii() and text.isdecimal() and 0 < int(text[:19]) < 2**63 and len(text) < 20:
            alert = await find_alert(connection, int(text))
            if alert is not None:
                matches.append(Match("alert", text, "id", alert.customer_id))
        caller = await caller_named(connection, text)
        if caller is not None:
            matches.append(Match("key", text, "id"))
    return matches


def _uuid(text: str | None) -> str | None:
    """The text as the ledger writes its own ids; None where it is none."""
    try:
        return str(uuid.UUID(text)) if text is not None else None
    except ValueError:
        return None
