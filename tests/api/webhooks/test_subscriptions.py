"""A subscription ended: mails that it was the reason for stop, what is owed stays owed."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.webhooks.posting import environment, signed, signed_json
from tests.support.service import Service, fresh_service

RECURLY = """<?xml version="1.0" encoding="UTF-8"?>
<{kind}_notification>
  <account><account_code>cus-{mark}</account_code></account>
  <subscription>
    <uuid>sub-{mark}</uuid><state>{state}</state>
    <canceled_at type="datetime">{at}</canceled_at>
    <expires_at type="datetime">{at}</expires_at>
  </subscription>
</{kind}_notification>"""


def ended(hooks: Service, provider: str, mark: str) -> None:
    """The provider's word that the subscription ended a minute ago."""
    at = int(hooks.clock.timestamp()) - 60
    if provider == "stripe":
        what = {"id": f"sub-{mark}", "customer": f"cus-{mark}", "status": "canceled"}
        body: Any = {"id": f"evt-{mark}", "type": "customer.subscription.deleted", "created": at}
        body |= {"livemode": False, "data": {"object": what | {"ended_at": at}}}
        signed_json("stripe", body, hooks.clock).to(hooks).ok()
    elif provider == "chargebee":
        what = {"id": f"sub-{mark}", "customer_id": f"cus-{mark}", "status": "cancelled"}
        body = {"id": f"ev-{mark}", "event_type": "subscription_cancelled", "occurred_at": at}
        body |= {"content": {"subscription": what | {"cancelled_at": at}}}
        signed_json("chargebee", body, hooks.clock).to(hooks).ok()
    else:
        kind, _, state = provider.partition(" ")[2].partition(" ")
        when = hooks.clock.replace(microsecond=0).isoformat()
        text = RECURLY.format(kind=kind, state=state, mark=mark, at=when)
        signed("recurly", text.encode(), hooks.clock).to(hooks).ok()
        hooks.advance(seconds=2)


ENDS = [
    "stripe",
    "chargebee",
    "recurly canceled_subscription canceled",
    "recurly expired_subscription expired",
]


def owing(hooks: Service, mark: str, name: str = "inv") -> str:
    """An invoice past due of the subscription, whose payment failed."""
    due = hooks.clock.date().replace(day=1).isoformat()
    invoice_id = f"{name}-{mark}"
    email = f"{mark}@example.com"
    hooks.put_invoice(invoice_id, customer_id=f"cus-{mark}", due_on=due, email=email).ok()
    failure = {"invoice_id": invoice_id, "event_id": f"e-{invoice_id}"}
    hooks.fact("invoice.payment_failed", failure | {"subscription_id": f"sub-{mark}"})
    return invoice_id


@pytest.mark.parametrize("provider", ENDS)
def test_failed_payments_and_upcoming_notices_stop_and_reminders_do_not(
    hooks: Service, mark: str, provider: str
) -> None:
    invoice_id = owing(hooks, mark)
    upcoming = {"event_type": "invoice.upcoming", "customer_id": f"cus-{mark}"}
    held = hooks.ask("payment_failed", invoice_id=invoice_id, event_id="e0").ok(201)
    ended(hooks, provider, mark)
    hooks.redeem(held["permit_id"]).no(409, "revoked")
    told = hooks.ask("payment_failed", invoice_id=invoice_id, event_id="e1")
    assert f"subscription sub-{mark} ended" in told.no(409, "subscription_ended")["detail"]
    hooks.ask("notification", **upcoming, event_id="u1").no(409, "subscription_ended")
    named = {"subscription_id": f"sub-{mark}", "event_id": "u2"}
    hooks.ask("notification", **upcoming | named).no(409, "subscription_ended")
    farewell = upcoming | {"event_type": "goodbye", "event_id": "g"}
    hooks.report(hooks.ask("notification", **farewell).ok(201)["permit_id"], "rejected").ok()
    hooks.remind(invoice_id).ok(201)


def test_another_subscription_lives_on(hooks: Service, mark: str) -> None:
    invoice_id = owing(hooks, mark)
    due = hooks.clock.date().replace(day=1).isoformat()
    other = f"other-{mark}"
    hooks.put_invoice(other, customer_id=f"cus-{mark}", due_on=due).ok()
    failure = {"invoice_id": other, "event_id": "e1", "subscription_id": f"second-{mark}"}
    hooks.fact("invoice.payment_failed", failure)
    ended(hooks, "stripe", mark)
    hooks.ask("payment_failed", invoice_id=other, event_id="e1").ok(201)
    hooks.ask("payment_failed", invoice_id=invoice_id, event_id="e2").no(409, "subscription_ended")
    alive = {"subscription_id": f"second-{mark}", "event_id": "u"}
    upcoming = {"event_type": "invoice.upcoming", "customer_id": f"cus-{mark}"}
    hooks.ask("notification", **upcoming | alive).ok(201)


def test_a_subscription_that_was_reactivated_lives(hooks: Service, mark: str) -> None:
    invoice_id = owing(hooks, mark)
    ended(hooks, "recurly canceled_subscription canceled", mark)
    hooks.ask("payment_failed", invoice_id=invoice_id, event_id="e1").no(409, "subscription_ended")
    text = RECURLY.format(kind="reactivated_account", state="active", mark=mark, at="")
    signed("recurly", text.encode(), hooks.clock).to(hooks).ok()
    hooks.ask("payment_failed", invoice_id=invoice_id, event_id="e1").ok(201)


def result(hooks: Service, type_: str, data: dict[str, Any]) -> str:
    """What became of one fact."""
    word: str = hooks.fact(type_, data)["results"][0]["result"]
    return word


def test_the_end_names_its_invoices_and_older_news_is_stale(hooks: Service, mark: str) -> None:
    due = hooks.clock.date().replace(day=1).isoformat()
    hooks.put_invoice(f"inv-{mark}", customer_id=f"cus-{mark}", due_on=due).ok()
    told = {"subscription_id": f"sub-{mark}", "customer_id": f"cus-{mark}"}
    end = told | {"invoice_ids": [f"inv-{mark}"], "at": "2027-01-14T00:00:00Z"}
    oldest = told | {"at": "2027-01-12T00:00:00Z"}
    assert result(hooks, "subscription.resumed", oldest) == "applied"
    assert result(hooks, "subscription.ended", end) == "applied"
    older = told | {"at": "2027-01-13T00:00:00Z"}
    assert result(hooks, "subscription.resumed", older) == "stale"
    ask = {"invoice_id": f"inv-{mark}", "event_id": "e1"}
    hooks.ask("payment_failed", **ask).no(409, "subscription_ended")


@pytest.fixture(scope="module")
def strict(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose policy stops reminders too."""
    config = tmp_path_factory.mktemp("policy") / "ledger.toml"
    config.write_text(
        '[policy]\nremind_after_subscription_end = false\nupcoming_event_types = ["soon"]\n'
    )
    env = environment(LEDGER_CONFIG=str(config))
    with fresh_service(postgres, "2027-01-15T12:00:00+00:00", env=env) as service:
        yield service


def test_the_policy_says_whether_what_is_owed_is_dunned(strict: Service, mark: str) -> None:
    invoice_id = owing(strict, mark)
    held = strict.remind(invoice_id).ok(201)
    ended(strict, "stripe", mark)
    strict.redeem(held["permit_id"]).no(409, "revoked")
    strict.remind(invoice_id).no(409, "subscription_ended")
    notice = {"customer_id": f"cus-{mark}", "event_id": "u"}
    strict.ask("notification", event_type="soon", **notice).no(409, "subscription_ended")
    strict.ask("notification", event_type="invoice.upcoming", **notice).ok(201)
