"""Live and test mode, dashboard samples, prefixes: events of two accounts never meet."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from api.settings.environment import SettingsError, load_settings
from tests.api.webhooks.posting import environment, signed, signed_json
from tests.support.service import Service, fresh_service
from tests.unit.webhooks.bodies import known, provider_of, sample

SAMPLES = [
    "stripe/invoice.marked_uncollectible.dashboard_test_event.v2018.json",
    "stripe/invoice.paid.v2020.json",
    "commune/inbound.synthetic_test.json",
    "commune/mail_postmark.inbound.json",
]
TEST_MODE = [
    "stripe/invoice.overdue.constructed.json",
    "stripe/invoice.updated.opened.v2019.json",
    "stripe/credit_note.created.pre_payment.constructed.json",
]


@pytest.fixture(scope="module")
def live(postgres: str) -> Iterator[Service]:
    """A service in live mode, whose billing accounts have a prefix."""
    env = environment(
        "live", LEDGER_WEBHOOK_STRIPE_PREFIX="eu-", LEDGER_WEBHOOK_CHARGEBEE_PREFIX="site2:"
    )
    with fresh_service(postgres, "2027-01-15T12:00:00+00:00", env=env) as service:
        yield service


def overdue(**changes: Any) -> dict[str, Any]:
    """The sample of an overdue invoice, changed."""
    event: dict[str, Any] = json.loads(sample("stripe/invoice.overdue.constructed.json"))
    return event | changes


@pytest.mark.parametrize("path", SAMPLES)
def test_a_dashboards_sample_is_ignored_in_live_mode(live: Service, path: str) -> None:
    before = live.get("/v1/control").ok()["position"]
    answer = signed(provider_of(path), sample(path), live.clock).to(live).ok()
    assert (answer["ignored"], answer["rejected"]) == ("dashboard_test_event", 0)
    assert live.get("/v1/control").ok()["position"] == before


@pytest.mark.parametrize("path", TEST_MODE)
def test_the_other_modes_events_are_ignored(live: Service, hooks: Service, path: str) -> None:
    answer = signed("stripe", sample(path), live.clock).to(live).ok()
    assert (answer["ignored"], answer["results"]) == ("other_mode", [])
    other = signed_json("stripe", overdue(livemode=True), hooks.clock).to(hooks).ok()
    assert (other["ignored"], other["results"]) == ("other_mode", [])


def test_a_prefix_keeps_accounts_apart(live: Service) -> None:
    event = overdue(livemode=True, id="evt_live_1")
    assert signed_json("stripe", event, live.clock).to(live).ok()["results"][0]["result"] == (
        "applied"
    )
    live.get("/v1/invoices/in_example_0001").no(404, "unknown_invoice")
    invoice = live.get("/v1/invoices/eu-in_example_0001").ok()
    assert invoice["customer_id"] == "eu-cus_example_0001"
    path = "chargebee/invoice_generated.posted.json"
    signed("chargebee", sample(path), live.clock).to(live).ok()
    assert live.get("/v1/invoices/site2:19").ok()["customer_id"] == "site2:16CHTpRzjKx2O7mo"
    live.get("/v1/invoices/19").no(404, "unknown_invoice")


def test_one_event_id_of_two_connected_accounts_is_two_events(live: Service) -> None:
    for account in ("acct_1", "acct_2"):
        event = overdue(livemode=True, id="evt_same", account=account)
        event["data"]["object"]["id"] = f"in_{account}"
        answer = signed_json("stripe", event, live.clock).to(live).ok()
        assert answer["results"][0]["result"] == "applied"
    assert live.get("/v1/invoices/eu-in_acct_2").ok()["amount_remaining"] == 24900


@pytest.mark.parametrize(
    ("mode", "prefix", "source"),
    [
        ("live", "", "chargebee"),
        ("test", "", "chargebee/test"),
        ("live", "b:", "chargebee/b:"),
        ("test", "b:", "chargebee/test/b:"),
    ],
)
def test_event_ids_are_deduplicated_within_an_account_and_mode(
    mode: str, prefix: str, source: str, tmp_path: Any
) -> None:
    """Chargebee's ids are of a site: those of two sites on one ledger are two events."""
    env = environment(mode, LEDGER_WEBHOOK_CHARGEBEE_PREFIX=prefix, LEDGER_DATA_DIR=str(tmp_path))
    configured = load_settings(env).webhooks["chargebee"]
    told = known("chargebee").translate({}, sample(POSTED), configured)
    assert {fact.source for fact in told.facts} == {source}
    assert told.facts[0].data["invoice_id"] == f"{prefix}19"


POSTED = "chargebee/invoice_generated.posted.json"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LEDGER_WEBHOOK_STRIPE_MODE", "production"),
        ("LEDGER_WEBHOOK_STRIPE_REMINDERS", "no"),
        ("LEDGER_WEBHOOK_STRIPE_PREFIX", "x" * 65),
        ("LEDGER_WEBHOOK_STRIPE_PREFIX", "a\tb"),
        ("LEDGER_RECURLY_API_URL", "https://v3.recurly.com"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(name: str, value: str, tmp_path: Any) -> None:
    env = {"LEDGER_DATA_DIR": str(tmp_path), "LEDGER_WEBHOOK_STRIPE_SECRET": "whsec_x"}
    with pytest.raises(SettingsError, match=name):
        load_settings(env | {name: value})


def test_the_api_has_a_default_address_and_must_be_http(tmp_path: Any) -> None:
    env = {"LEDGER_DATA_DIR": str(tmp_path), "LEDGER_RECURLY_API_KEY": "k"}
    assert load_settings(env).apis["recurly"].url == "https://v3.recurly.com"
    for wrong in ("ftp://x.example", "v3.recurly.com", "https://", "https://x.example/?a=b"):
        with pytest.raises(SettingsError, match="LEDGER_RECURLY_API_URL"):
            load_settings(env | {"LEDGER_RECURLY_API_URL": wrong})
    assert "k" not in repr(load_settings(env).apis["recurly"]).replace("key", "")
