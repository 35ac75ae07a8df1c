"""What Recurly's API (v3) answers to a refresh hint, as facts or as the next thing to fetch."""

from datetime import datetime
from decimal import Decimal

from api.webhooks.bodies.invoices import Event, Snapshot
from api.webhooks.bodies.moments import rfc3339
from api.webhooks.bodies.record import Record
from api.webhooks.bodies.strict_json import read_json_object
from api.webhooks.bodies.unusable import Unusable, rejecting
from api.webhooks.provider import Refresh, Settings, Translation
from api.webhooks.providers.recurly_xml import STATUSES
from ledger.domain.money import AmountTooFine, minor_units

API_PATHS = {
    "invoice": "/invoices/number-{}",
    "credit_invoice": "/invoices/number-{}",
    "payment": "/transactions/uuid-{}",
    "credit_payment": "/credit_payments/uuid-{}",
    "account": "/accounts/code-{}",
    "subscription": "/subscriptions/{}",
}
"""Where the API keeps what a hint of each kind names; the id goes in percent-encoded."""


def translate_fetched(object_kind: str, body: bytes, settings: Settings) -> Translation:
    """What the fetched object means. Never raises: what cannot be used is rejected.

    Transactions and credit payments name their invoice by its number only, so they lead to that
    invoice; its snapshot holds what they changed. https://recurly.com/developers/api/v2021-02-25/
    """
    return rejecting(lambda: _fetched(object_kind, Record(read_json_object(body)), settings))


def _fetched(object_kind: str, what: Record, settings: Settings) -> Translation:
    if object_kind == "account":
        return _account(what, settings)
    if object_kind == "subscription":
        return _subscription(what, settings)
    if object_kind == "payment":
        return _next_invoice(what, "invoice")
    if object_kind == "credit_payment":
        return _next_invoice(what, "applied_to_invoice", "original_invoice")
    if what.optional_text("type") == "credit":
        return Translation(ignored="changes_no_balance")
    return _invoice(what, settings)


def _next_invoice(what: Record, *names: str) -> Translation:
    numbers = [what.record(name).text("number") for name in names if what.has(name)]
    if not numbers:
        return Translation(ignored="names_no_invoice")
    return Translation(refresh=tuple(Refresh("recurly", "invoice", number) for number in numbers))


def _account(what: Record, settings: Settings) -> Translation:
    changed = what.time("updated_at")
    event = _event(what, changed, settings)
    return event.customer(what.text("code"), what.optional_text("email"), changed)


def _subscription(what: Record, settings: Settings) -> Translation:
    """One that will not renew has ended; one that is active again lives on."""
    changed, state = what.time("updated_at"), what.text("state")
    if state not in ("active", "canceled", "expired", "failed"):
        return Translation(ignored="irrelevant_event")
    ended = state != "active"
    at = what.optional_time("expires_at" if state == "expired" else "canceled_at")
    return _event(what, changed, settings).subscription(
        "subscription.ended" if ended else "subscription.resumed",
        what.text("uuid"),
        what.record("account").text("code"),
        (at if ended else None) or changed,
        reason=what.optional_text("expiration_reason") if ended else None,
    )


def _invoice(what: Record, settings: Settings) -> Translation:
    status = STATUSES.get(what.text("state").lower())
    if status is None:
        raise Unusable("unknown_status", f"{what.where('state')} is none that is known")
    changed, currency, account = (
        what.time("updated_at"),
        what.currency("currency"),
        what.record("account"),
    )
    return _event(what, changed, settings).observed(
        Snapshot(
            invoice_id=what.text("uuid"),
            customer_id=account.text("code"),
            email=account.optional_text("email"),
            currency=currency,
            total=_minor(what, "total", currency),
            amount_remaining=_remaining(what, status, currency),
            status=status,
            due=what.time("due_at") if what.has("due_at") else None,
            issued=what.time("created_at") if what.has("created_at") else None,
            observed=changed,
            nothing_in_flight=what.text("state").lower() != "processing",
        )
    )


def _remaining(what: Record, status: str, currency: str) -> int:
    """What is still unpaid: of one written off, what nobody paid, though its balance is zero."""
    balance = _minor(what, "balance", currency)
    if balance or status != "uncollectible":
        return balance
    paid = _minor(what, "paid", currency) if what.has("paid") else 0
    return _minor(what, "total", currency) - paid


def _event(what: Record, changed: datetime, settings: Settings) -> Event:
    """Fetching the same state twice is the same fact."""
    return Event(f"fetched:{what.text('id')}:{rfc3339(changed)}", settings.source, settings)


def _minor(what: Record, name: str, currency: str) -> int:
    """An amount in major units as whole minor units, of either sign.

    JSON's shortest digits are what was meant.
    """
    value = what.members.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unusable("bad_amount", f"{what.where(name)} is not a number")
    try:
        amount = minor_units(Decimal(str(value)), currency)
    except AmountTooFine:
        raise Unusable("bad_amount", f"{what.where(name)} is finer than the currency") from None
    except ValueError:
        raise Unusable("bad_amount", f"{what.where(name)} is beyond reason") from None
    return amount
