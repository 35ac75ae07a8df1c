"""The statement of an apology: each open invoice once, and amounts as people write them (D14)."""

from pathlib import Path

import pytest

from api.settings.environment import SettingsError, load_settings
from ledger.application.commands import CallPause, DeclareIncident
from ledger.application.locales import UnknownLocale
from ledger.application.statement import formatted_amount
from ledger.domain.balance import Status
from ledger.domain.policy import Policy
from tests.support.build import OPERATOR, apology, at, invoice, merged, minutes, paid
from tests.support.given import Scenario, given

NOW = at("2026-07-15T08:30:00Z")


def ledger(*steps: object, policy: Policy | None = None) -> Scenario:
    """A paused ledger with an incident, and then these steps."""
    incident = DeclareIncident("F1", "flood", "bug", at("2026-07-14"), NOW, "ann", OPERATOR)
    return given(NOW, incident, CallPause("all", "flood", "ann", OPERATOR), *steps, policy=policy)


def test_the_statement_is_of_the_moment_of_the_grant() -> None:
    scenario = ledger(
        invoice("INV-31a", due="2026-07-01", owes=12000, total=12000, currency="EUR"),
        invoice("INV-31b", due="2026-07-01", owes=30000, total=30000, currency="EUR"),
        invoice("inv_usd", due="2026-07-01", owes=500, total=500),
        invoice("inv_void", due="2026-07-01", owes=999, total=999, status=Status.VOID),
        minutes(1),
        paid(25000, "INV-31b"),
        apology(),
    )
    scenario.granted_now()
    assert scenario.body["statement"] == {
        "owed": [
            {"currency": "EUR", "amount": 17000, "formatted": "€170.00"},
            {"currency": "USD", "amount": 500, "formatted": "$5.00"},
        ],
        "open_invoices": [
            {
                "invoice_id": "INV-31a",
                "amount_remaining": 12000,
                "currency": "EUR",
                "formatted": "€120.00",
            },
            {
                "invoice_id": "INV-31b",
                "amount_remaining": 5000,
                "currency": "EUR",
                "formatted": "€50.00",
            },
            {
                "invoice_id": "inv_usd",
                "amount_remaining": 500,
                "currency": "USD",
                "formatted": "$5.00",
            },
        ],
        "credit": [],
        "as_of": "2026-07-15T08:31:00Z",
    }
    kept = scenario.event("Incident.ApologyPermitted").statement
    assert kept.owed == {"EUR": 17000, "USD": 500}
    assert [(i.invoice_id, i.amount_remaining) for i in kept.open_invoices] == [
        ("INV-31a", 12000),
        ("INV-31b", 5000),
        ("inv_usd", 500),
    ]


def test_an_invoice_that_both_ids_of_a_merged_customer_were_named_on_counts_once() -> None:
    scenario = ledger(
        invoice("inv_1", customer="cus_old", due="2026-07-01", owes=1000, total=1000),
        merged("cus_old", "cus_1"),
        invoice("inv_1", customer="cus_1", due="2026-07-01", owes=900, total=1000),
        apology(),
    )
    scenario.granted_now()
    assert [line["amount_remaining"] for line in scenario.body["statement"]["open_invoices"]] == [
        900
    ]
    assert scenario.body["statement"]["owed"][0]["amount"] == 900


def test_who_owes_nothing_gets_an_apology_with_an_empty_statement() -> None:
    scenario = ledger(invoice(owes=0, total=100, status=Status.PAID), apology()).granted_now()
    assert scenario.body["statement"]["owed"] == []
    assert scenario.body["statement"]["open_invoices"] == []


def test_amounts_are_written_by_the_locale_of_the_policy() -> None:
    owing = invoice(due="2026-07-01", owes=123456, total=123456, currency="EUR")
    scenario = ledger(owing, apology(), policy=Policy(locale="de_DE")).granted_now()
    assert scenario.body["statement"]["owed"][0]["formatted"] == "1.234,56\N{NO-BREAK SPACE}€"


@pytest.mark.parametrize(
    ("amount", "currency", "written"),
    [
        (17000, "EUR", "€170.00"),
        (300, "JPY", "¥300"),
        (12345, "KWD", "KWD12.345"),
        # The locale data round these to whole units, as cash is paid.
        (12345, "IQD", "IQD12.345"),
        (1234567, "LBP", "LBP12,345.67"),
        (2**53 - 1, "USD", "$90,071,992,547,409.91"),
        (-500, "USD", "-$5.00"),
    ],
)
def test_no_part_of_an_amount_is_lost(amount: int, currency: str, written: str) -> None:
    assert formatted_amount(amount, currency, "en_US").replace("\N{NO-BREAK SPACE}", "") == written


def test_a_locale_that_does_not_exist() -> None:
    with pytest.raises(UnknownLocale, match="xx_YY"):
        formatted_amount(1, "USD", "xx_YY")


def test_a_locale_is_checked_at_the_start(tmp_path: Path) -> None:
    config = tmp_path / "ledger.toml"
    env = {"LEDGER_CONFIG": str(config), "LEDGER_SECRET": "a secret of the tests"}
    config.write_text('[policy]\nlocale = "pt_BR"', encoding="utf-8")
    assert load_settings(env).policy.locale == "pt_BR"
    config.write_text('[policy]\nlocale = "xx_YY"', encoding="utf-8")
    with pytest.raises(SettingsError, match="locale: 'xx_YY' is not a locale"):
        load_settings(env)
    config.write_text('[policy]\nlocale = "../../etc"', encoding="utf-8")
    with pytest.raises(SettingsError, match="must be a locale"):
        load_settings(env)
