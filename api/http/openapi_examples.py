"""Examples for the OpenAPI document: typical requests, and the denial codes of each endpoint."""

from typing import Any

Examples = dict[str, dict[str, Any]]

_JSON = "application/json"
_SNAPSHOT = {
    "customer_id": "cus_1",
    "email": "pat@example.com",
    "currency": "USD",
    "total": 30_000,
    "amount_remaining": 30_000,
    "issued_on": "2026-11-01",
    "due_on": "2026-12-01",
    "status": "open",
    "time_zone": "UTC",
    "observed_at": "2026-12-01T00:00:00Z",
}
_MESSAGE = {
    "thread_id": "thr_1",
    "message_id": "<m1@example.com>",
    "direction": "inbound",
    "from": "pat@example.com",
    "to": "billing@example.net",
    "at": "2026-12-04T09:30:00Z",
}
_OBSERVED = {
    "id": "evt_1",
    "source": "billing",
    "type": "invoice.observed",
    "time": "2026-12-01T00:00:00Z",
    "data": _SNAPSHOT | {"invoice_id": "inv_1"},
}
_PAID = {
    "id": "evt_2",
    "source": "billing",
    "type": "invoice.payment",
    "time": "2026-12-06T10:00:00Z",
    "data": {
        "invoice_id": "inv_1",
        "payment_id": "pay_1",
        "amount": 20_000,
        "state": "succeeded",
    },
}
_SENT = {
    "id": "mail_1",
    "source": "sent-log",
    "type": "send.observed",
    "data": {
        "customer_id": "cus_1",
        "at": "2026-12-04T10:00:00Z",
        "kind": "notification",
        "event_type": "shipped",
        "event_id": "ord_9",
        "message_id": "<m9@example.net>",
    },
}
_UNMERGED = {
    "id": "evt_3",
    "source": "support",
    "type": "customer.unmerged",
    "data": {"customer_id": "cus_2", "from": "cus_1"},
}
_CREDIT = {
    "id": "evt_4",
    "source": "billing",
    "type": "customer.credit",
    "data": {"customer_id": "cus_1", "credit_id": "goodwill-1", "amount": 2_500, "currency": "USD"},
}
_CORRECTION = {"by": "ann", "reason": "not in the log of the provider"}
_REMINDER = {
    "kind": "reminder",
    "invoices": ["inv_1"],
    "stage": "day-7",
    "expected": {"inv_1": {"cycle": 1, "amount_remaining": 30_000}},
}
_WHY = {"reason": "the poller asks once a day now", "by": "ann"}

PERMITS: Examples = {
    "reminder": _REMINDER,
    "reminder with its facts": {
        "kind": "reminder",
        "invoices": ["inv_1"],
        "facts": {"inv_1": _SNAPSHOT},
        "redeem": True,
    },
    "payment_failed": {
        "kind": "payment_failed",
        "invoice_id": "inv_1",
        "event_id": "evt_1",
        "attempt_id": "pi_1",
    },
    "reply": {
        "kind": "reply",
        "thread_id": "thr_1",
        "in_reply_to": "<m1@example.com>",
        "message": _MESSAGE,
    },
    "notification": {
        "kind": "notification",
        "customer_id": "cus_1",
        "event_type": "shipped",
        "event_id": "ord_9",
        "happened_at": "2026-12-04T09:00:00Z",
        "not_after": "2026-12-05T09:00:00Z",
    },
    "a mail with a copy": {
        "kind": "notification",
        "customer_id": "cus_1",
        "event_type": "shipped",
        "event_id": "ord_9",
        "cc": ["kim@example.com"],
    },
    "digest": {
        "kind": "digest",
        "customer_id": "cus_1",
        "inbox_id": "inb_1",
        "date": "2026-12-04",
    },
    "follow_up": {"kind": "follow_up", "thread_id": "thr_1", "step": 2},
    "message": {
        "kind": "message",
        "thread_id": "thr_1",
        "intent": "refund_notice",
        "customer_id": "cus_1",
    },
    "a deliberate repeat": {
        "kind": "message",
        "thread_id": "thr_1",
        "intent": "invoice_copy",
        "override": {"action_id": "op-7", "by": "ann", "reason": "it never came"},
    },
    "apology": {"kind": "apology", "incident_id": "inc_1", "customer_id": "cus_1"},
}


def _named(examples: dict[str, Any]) -> dict[str, Any]:
    return {name: {"value": value} for name, value in examples.items()}


def _one(value: Any) -> Examples:
    return {_JSON: _named({"example": value})}


_A_PERMIT = "0b0d4a52-6c3e-4d0a-9a51-3f6c0b1e9d11"
ASKED: dict[tuple[str, str], Examples] = {
    ("post", "/v1/permits"): {
        _JSON: _named(PERMITS | {"a dry run": {**PERMITS["notification"], "dry_run": True}})
    },
    ("post", "/v1/permits/batch"): {
        _JSON: _named(
            {
                "a batch": {"requests": [_REMINDER, PERMITS["notification"]]},
                "a dry run": {"requests": [_REMINDER], "dry_run": True},
            }
        )
    },
    ("post", "/v1/permits/redeem"): _one(
        {"redeems": [{"permit_id": _A_PERMIT, "attempt": "3f6c0b1e9d"}]}
    ),
    ("post", "/v1/permits/outcomes"): _one(
        {"outcomes": [{"permit_id": _A_PERMIT, "outcome": "sent", "provider": "resend"}]}
    ),
    ("post", "/v1/permits/{permit_id}/redeem"): _one({"attempt": "3f6c0b1e9d"}),
    ("post", "/v1/permits/{permit_id}/outcome"): {
        _JSON: _named(
            {
                "sent": {"outcome": "sent", "provider": "resend", "provider_message_id": "re_123"},
                "a false sent is corrected": {"outcome": "rejected", "correction": _CORRECTION},
            }
        )
    },
    ("put", "/v1/invoices/{invoice_id}"): _one(_SNAPSHOT),
    ("post", "/v1/facts"): {
        _JSON: _named(
            {
                "facts": {"facts": [_OBSERVED, _PAID]},
                "a merge is undone": {"facts": [_UNMERGED]},
                "a mail sent without a permit": {"facts": [_SENT]},
                "a credit beside any invoice": {"facts": [_CREDIT]},
            }
        ),
        "application/cloudevents+json": _named({"one event": _PAID}),
        "application/cloudevents-batch+json": _named({"a batch": [_OBSERVED, _PAID]}),
    },
    ("post", "/v1/due/claim"): _one({"limit": 100, "stage": None}),
    ("post", "/v1/jobs/{job}/lease"): _one({"holder": "worker-1", "ttl_seconds": 60}),
    ("delete", "/v1/jobs/{job}/lease"): _one({"holder": "worker-1"}),
    ("post", "/v1/customers/{customer_id}/breaker/reset"): _one(_WHY),
    ("post", "/v1/customers/{customer_id}/addresses/release"): _one(_WHY),
    ("post", "/v1/customers/{customer_id}/erase"): _one({"by": "ann"}),
    ("post", "/v1/breakers/reset"): _one(_WHY | {"customer_ids": ["cus_1", "cus_2"]}),
    ("post", "/v1/control/pause"): _one({"scope": "outreach", "reason": "a flood", "by": "ann"}),
    ("post", "/v1/control/guard-check"): _one({}),
    ("post", "/v1/control/resume"): _one(
        _WHY | {"scope": "outreach", "guard_check_id": "8b8b2ac0-39a5-4c0b-a57e-3f1a3dd1b4f7"}
    ),
    ("post", "/v1/control/clock/accept"): _one(_WHY),
    ("post", "/v1/incidents"): _one(
        {
            "title": "F1",
            "from": "2026-12-04T00:00:00Z",
            "to": "2026-12-05T00:00:00Z",
            "cause": "the poller mailed each hit",
        }
    ),
    ("post", "/v1/incidents/{incident_id}/close"): _one({"by": "ann"}),
    ("post", "/v1/test-clock"): _one({"now": "2026-12-04T00:00:10Z"}),
    ("post", "/v1/customers/search"): _one({"address": "pat@example.com"}),
    ("post", "/v1/find"): _one({"text": "<m1@example.com>"}),
    ("post", "/v1/alerts/ack"): _one({"up_to": 412, "kind": "breaker_opened", "by": "ann"}),
    ("post", "/v1/alerts/{alert_id}/ack"): _one({"by": "ann"}),
    ("post", "/v1/projections/{name}/rebuild"): _one({}),
    ("post", "/v1/keys"): _one(
        {"name": "agent", "scopes": ["send"], "intents": ["refund_notice"], "customers": ["eu_*"]}
    ),
}
"""Example requests, by method and path; webhook bodies are defined by the providers."""

_LIMITED = ["forbidden", "key_limit"]
_AT_REDEEM = "already_redeemed revoked expired recovery_mode".split()

DENIALS: dict[tuple[str, str], dict[str, list[str]]] = {
    ("post", "/v1/permits"): {
        "404": (
            "unknown_invoice unknown_thread unknown_message unknown_incident unknown_customer"
        ).split(),
        "409": (
            "already_sent duplicate_intent already_replied outbound_message auto_generated "
            "own_message nothing_owed voided no_due_date stale_cycle amount_changed "
            "apology_already_sent not_paused not_past_due not_reached stage_superseded "
            "balance_below_stage payment_in_flight on_hold permit_held outcome_unknown not_owner "
            "breaker_open paused recovery_mode address_on_hold answered superseded "
            "subscription_ended too_late facts_stale reminded_recently similar_intent"
        ).split(),
        "403": ["forbidden", "key_limit", "riding_facts_refused"],
        "422": ["key_conflict", "invalid_request", "unknown_intent"],
        "429": ["cap_reached", "loop_guard", "rate_limited"],
        "503": ["clock_suspect", "unavailable"],
    },
    ("post", "/v1/permits/{permit_id}/redeem"): {
        "404": ["unknown_permit"],
        "409": _AT_REDEEM,
        "503": ["clock_suspect", "unavailable"],
    },
    ("post", "/v1/permits/{permit_id}/outcome"): {
        "404": ["unknown_permit"],
        "409": ["already_settled"],
    },
    ("get", "/v1/permits"): {"403": _LIMITED},
    ("get", "/v1/due"): {"403": _LIMITED},
    ("post", "/v1/due/claim"): {"403": _LIMITED},
    ("get", "/v1/permits/{permit_id}"): {"404": ["unknown_permit"]},
    ("get", "/v1/invoices/{invoice_id}"): {"404": ["unknown_invoice"]},
    ("get", "/v1/invoices/{invoice_id}/timeline"): {"404": ["unknown_invoice"]},
    ("get", "/v1/customers/{customer_id}"): {"404": ["unknown_customer"]},
    ("get", "/v1/customers/{customer_id}/timeline"): {"404": ["unknown_customer"]},
    ("get", "/v1/customers/{customer_id}/windows"): {
        "403": _LIMITED,
        "404": ["unknown_customer"],
    },
    ("post", "/v1/customers/{customer_id}/erase"): {"404": ["unknown_customer"]},
    ("post", "/v1/customers/{customer_id}/breaker/reset"): {"404": ["unknown_customer"]},
    ("post", "/v1/customers/{customer_id}/addresses/release"): {"404": ["unknown_customer"]},
    ("get", "/v1/events"): {"404": ["unknown_customer"]},
    ("get", "/v1/incidents/{incident_id}"): {"404": ["unknown_incident"]},
    ("get", "/v1/incidents/{incident_id}/affected"): {"404": ["unknown_incident"]},
    ("get", "/v1/incidents/{incident_id}/report"): {"404": ["unknown_incident"]},
    ("post", "/v1/incidents/{incident_id}/close"): {"404": ["unknown_incident"]},
    ("post", "/v1/jobs/{job}/lease"): {"403": _LIMITED, "409": ["not_owner"]},
    ("delete", "/v1/jobs/{job}/lease"): {"403": _LIMITED, "409": ["not_owner"]},
    ("post", "/v1/control/resume"): {"409": ["guard_not_proven"]},
}
"""The problem codes of an endpoint, by status, where they differ from the default ones."""
