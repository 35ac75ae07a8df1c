"""The statement of an apology: what a customer owes, from the log and at that moment (D14)."""

import copy
from functools import lru_cache
from typing import Any

from babel.numbers import NumberPattern

from ledger.application.locales import locale_named
from ledger.application.world import World
from ledger.domain.balance import Status
from ledger.domain.credits import less_credit
from ledger.domain.customer import Customer
from ledger.domain.incident import OpenInvoice, Statement
from ledger.domain.money import exponent, major_units


def statement_of(world: World, customer: Customer | None) -> Statement:
    """Open invoices and the balance per currency, in minor units, over all merged ids.

    The customer's credit is taken off the balance.
    """
    if customer is None:
        return Statement({}, ())
    lines = _open_invoices(world, customer)
    owed = less_credit(_sums(lines), customer.credit)
    return Statement(owed, lines, customer.credit.all_available())


_NO_CURRENCY: frozenset[str] = frozenset()


def covered_currencies(world: World, customer: Customer | None) -> frozenset[str]:
    """The currencies in which the customer's credit covers all that is open.

    Raises NotLoaded; their invoices are looked at only where they have a credit.
    """
    if customer is None or not customer.credit.sums:
        return _NO_CURRENCY
    available = customer.credit.all_available()
    if not available:
        return _NO_CURRENCY
    owed = _sums(_open_invoices(world, customer))
    return frozenset(c for c, amount in available.items() if amount >= owed.get(c, 0))


def _sums(lines: tuple[OpenInvoice, ...]) -> dict[str, int]:
    owed: dict[str, int] = {}
    for line in lines:
        owed[line.currency] = owed.get(line.currency, 0) + line.amount_remaining
    return owed


def _open_invoices(world: World, customer: Customer) -> tuple[OpenInvoice, ...]:
    lines: list[OpenInvoice] = []
    for invoice_id in _invoices_of(world, customer):
        invoice = world.invoice(invoice_id)
        if invoice is None or invoice.snapshot is None:
            continue
        owner = world.customer(invoice.customer_id)
        standing = invoice.standing
        if owner is not customer or standing.status is not Status.OPEN:
            continue
        currency = invoice.snapshot.currency
        lines.append(OpenInvoice(invoice_id, standing.balance, currency))
    return tuple(lines)


def statement_body(statement: Statement, world: World) -> dict[str, Any]:
    """The statement as the contract shows it: formatted for people, as of the world's time."""
    locale = world.policy.locale
    return {
        "owed": [
            {
                "currency": currency,
                "amount": amount,
                "formatted": formatted_amount(amount, currency, locale),
            }
            for currency, amount in sorted(statement.owed.items())
        ],
        "open_invoices": [
            {
                "invoice_id": line.invoice_id,
                "amount_remaining": line.amount_remaining,
                "currency": line.currency,
                "formatted": formatted_amount(line.amount_remaining, line.currency, locale),
            }
            for line in statement.open_invoices
        ],
        "credit": [
            {
                "currency": currency,
                "amount": amount,
                "formatted": formatted_amount(amount, currency, locale),
            }
            for currency, amount in sorted(statement.credit.items())
        ],
        "as_of": world.now,
    }


def formatted_amount(amount: int, currency: str, locale: str) -> str:
    """An amount in minor units as a person of that locale writes it: 17000 EUR is €170.00.

    With the decimals of ISO 4217, as the ledger counts them; those of the locale data are the ones
    used in cash, so some currencies would lose a part of the amount. Raises UnknownLocale,
    UnknownCurrency.
    """
    decimals = exponent(currency)
    written: str = _pattern(locale, decimals).apply(
        major_units(amount, currency),
        locale_named(locale),
        currency=currency,
        currency_digits=False,
    )
    return written


@lru_cache(maxsize=256)
def _pattern(locale: str, decimals: int) -> NumberPattern:
    """The locale's pattern for money, with exactly that many decimals."""
    pattern: NumberPattern = copy.copy(locale_named(locale).currency_formats["standard"])
    pattern.frac_prec = (decimals, decimals)
    return pattern


def _invoices_of(world: World, customer: Customer) -> list[str]:
    """Each invoice once, though several of the customer's ids may have been named on it."""
    ids = (customer.customer_id, *sorted(customer.absorbed))
    named = {name: None for customer_id in ids for name in world.invoices_of(customer_id)}
    return list(named)
