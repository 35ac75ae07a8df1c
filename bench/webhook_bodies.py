"""Webhook requests as Stripe and Recurly send them: signed, in the order of an invoice's life."""

import base64
import hashlib
import hmac
import json
import time
from functools import cache
from pathlib import Path

BURST = 500
"""The number of webhooks in a burst."""
_STEPS = (
    "invoice.overdue",
    "invoice.updated.due_date_changed",
    "invoice.updated.partially_paid",
    "credit_note.created.pre_payment",
    "invoice.voided",
)
_NOTIFICATIONS = (
    ("new", "pending", 10_000),
    ("past_due", "past_due", 10_000),
    ("updated", "past_due", 4_000),
    ("processing", "processing", 4_000),
    ("paid", "paid", 0),
)
SECRET, BASIC = "whsec_bench", "hook:bench"


def stripe_event(number: int) -> bytes:
    """A signed event of the sample sequence: five per invoice, a hundred invoices per burst."""
    now = int(time.time())
    burst, place = divmod(number, BURST)
    step, invoice = divmod(place, BURST // len(_STEPS))
    body = _renamed(_STEPS[step], f"{burst}x{invoice}").encode()
    digest = hmac.new(SECRET.encode(), f"{now}.".encode() + body, hashlib.sha256).hexdigest()
    return request("stripe", {"Stripe-Signature": f"t={now},v1={digest}"}, body)


def recurly_event(number: int) -> bytes:
    """A notification of the sequence: five per invoice, a hundred invoices per burst."""
    burst, place = divmod(number, BURST)
    step, invoice = divmod(place, BURST // len(_NOTIFICATIONS))
    return _recurly(f"{burst}x{invoice}", step)


def recurly_event_of_somebody_new(number: int) -> bytes:
    """A notification about a new invoice, account and address."""
    return _recurly(f"new-{number}", 0)


def _recurly(name: str, step: int) -> bytes:
    kind, state, owed = _NOTIFICATIONS[step]
    body = f"""<?xml version="1.0" encoding="UTF-8"?>
<{kind}_charge_invoice_notification>
  <account>
    <account_code>acc-{name}</account_code>
    <email>pat.{name}@example.com</email>
  </account>
  <invoice>
    <uuid>bench-{name}</uuid>
    <state>{state}</state>
    <invoice_number type="integer">1031</invoice_number>
    <balance_in_cents type="integer">{owed}</balance_in_cents>
    <total_in_cents type="integer">10000</total_in_cents>
    <currency>USD</currency>
    <created_at type="datetime">2026-02-13T15:00:11Z</created_at>
    <updated_at type="datetime">2026-02-13T15:0{step}:11Z</updated_at>
    <due_on type="datetime">2026-03-16T15:00:11Z</due_on>
  </invoice>
</{kind}_charge_invoice_notification>""".encode()
    token = base64.b64encode(BASIC.encode()).decode()
    return request("recurly", {"Authorization": f"Basic {token}"}, body)


def request(provider: str, headers: dict[str, str], body: bytes) -> bytes:
    """The bytes of the HTTP request."""
    lines = [f"POST /v1/webhooks/{provider} HTTP/1.1", "Host: bench"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


def _renamed(step: str, name: str) -> str:
    """The sample's text with new ids."""
    return _sample(step).replace("example_", f"bench{name}_").replace("customer@", f"c{name}@")


@cache
def _sample(step: str) -> str:
    path = Path(__file__).parents[1] / "tests/payloads/stripe" / f"{step}.constructed.json"
    event = json.loads(path.read_text(encoding="utf-8"))
    return json.dumps(event | {"livemode": True})
