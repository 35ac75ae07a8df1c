"""Stripe Billing: its signature, and what its events mean to an invoice's balance."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from stripe import SignatureVerificationError, WebhookSignature

from api.webhooks.bodies.invoices import Event
from api.webhooks.bodies.record import Record, checked_text
from api.webhooks.bodies.strict_json import read_json_object
from api.webhooks.bodies.unusable import rejecting
from api.webhooks.provider import BadSignature, Settings, Translation
from api.webhooks.providers.stripe_disputes import dispute
from api.webhooks.providers.stripe_intents import intent
from api.webhooks.providers.stripe_invoices import (
    credit_note,
    failed_payment,
    partial_payment,
    refund,
    snapshot,
)
from api.webhooks.providers.stripe_subscriptions import subscription
from api.webhooks.providers.stripe_thin import THIN, thin
from api.webhooks.providers.stripe_types import (
    OTHER_TYPES,
    PAYMENT_FAILURES,
    PAYMENT_STATES,
    REFUNDS,
    SNAPSHOTS,
    SUBSCRIPTIONS,
)
from api.webhooks.signatures.hmac_signature import check_fresh

_SAMPLE_ID = re.compile(r"(?:[a-z]+[_.])+0{8,}", re.ASCII)
"""Ids of the dashboard's sample events: a prefix and nothing but zeros."""


class Stripe:
    """https://docs.stripe.com/webhooks"""

    name = "stripe"

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> None:
        """Check `Stripe-Signature` with Stripe's own library; any `v1` under any secret will do.

        The library's tolerance asks the machine's clock and lets the future pass, so it is left
        off and the time is checked here (300 s, both ways).
        """
        header = headers.get("stripe-signature", "")
        stamps = [item[2:] for item in header.split(",") if item.startswith("t=")]
        if len(stamps) != 1 or not header.isascii():
            raise BadSignature("Stripe-Signature is missing or malformed")
        check_fresh(stamps[0], now)
        if not any(_signed(body, header, secret) for secret in settings.secrets):
            raise BadSignature("no v1 signature of Stripe-Signature matches")

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """What one event means; of the other mode, or a dashboard sample in live mode: nothing."""
        return rejecting(lambda: _translate(body, settings))


def _signed(body: bytes, header: str, secret: str) -> bool:
    try:
        WebhookSignature.verify_header(body, header, secret, tolerance=None)
    except (SignatureVerificationError, UnicodeDecodeError):
        return False
    return True


def _translate(body: bytes, settings: Settings) -> Translation:
    envelope = Record(read_json_object(body))
    kind = envelope.text("type")
    what = envelope.optional_record("data").optional_record("object")
    if settings.mode == "live" and _is_sample(envelope, what):
        return Translation(ignored="dashboard_test_event")
    if envelope.flag("livemode") != (settings.mode == "live"):
        return Translation(ignored="other_mode")
    if envelope.optional_text("object") == THIN:
        return thin(kind, envelope)
    if kind not in SUBSCRIPTIONS and OTHER_TYPES.is_harmless(kind):
        return Translation(ignored="irrelevant_event")
    account = envelope.optional_text("account")
    source = f"{settings.source}/{account}" if account else settings.source
    event = Event(envelope.text("id"), checked_text(source, "the source"), settings)
    if kind in PAYMENT_FAILURES:
        return _failure(event, what, envelope)
    return _meaning(kind, event, what, envelope.unix("created"))


def _failure(event: Event, invoice: Record, envelope: Record) -> Translation:
    """A failed attempt to pay, beside the invoice as it is now."""
    created = envelope.unix("created")
    told = snapshot(event, invoice, created, deleted=False)
    if not told.facts:
        return told
    failed = failed_payment(event, invoice, created, envelope.reference("request"))
    return replace(told, facts=told.facts + failed)


def _is_sample(envelope: Record, what: Record) -> bool:
    ids = (envelope.optional_text("id"), what.optional_text("id"))
    return any(id is not None and _SAMPLE_ID.fullmatch(id) for id in ids)


def _meaning(kind: str, event: Event, what: Record, created: datetime) -> Translation:
    if kind in SNAPSHOTS:
        return snapshot(event, what, created, deleted=kind == "invoice.deleted")
    if kind == "invoice_payment.paid":
        return partial_payment(event, what, created)
    if kind in PAYMENT_STATES:
        return intent(event, what, created, PAYMENT_STATES[kind])
    if kind in ("credit_note.created", "credit_note.voided"):
        return credit_note(event, what, created, voided=kind == "credit_note.voided")
    if kind in REFUNDS:
        return refund(event, what, created)
    if kind in ("charge.dispute.created", "charge.dispute.closed"):
        return dispute(event, what, created)
    if kind in ("customer.created", "customer.updated"):
        new = kind == "customer.created"
        return event.customer(what.text("id"), what.optional_text("email"), created, new=new)
    if kind in SUBSCRIPTIONS:
        return subscription(event, what, created)
    return Translation(rejected=(OTHER_TYPES.unknown(kind),))
