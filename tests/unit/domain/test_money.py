"""Amounts in whole minor units of currencies with 0, 2, 3 and 4 decimals (design D10)."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.domain.money import (
    CURRENCIES,
    LARGEST_AMOUNT,
    AmountTooFine,
    UnknownCurrency,
    exponent,
    major_units,
    minor_units,
)


@pytest.mark.parametrize(
    ("currency", "decimals"),
    [("JPY", 0), ("KRW", 0), ("USD", 2), ("EUR", 2), ("KWD", 3), ("TND", 3), ("CLF", 4)],
)
def test_decimals_of_a_currency(currency: str, decimals: int) -> None:
    assert exponent(currency) == decimals


@pytest.mark.parametrize("currency", ["usd", "", "US", "USDX", "XXX", "DOGE", "$"])
def test_no_such_currency(currency: str) -> None:
    with pytest.raises(UnknownCurrency):
        exponent(currency)


@pytest.mark.parametrize(
    ("amount", "currency", "whole"),
    [
        ("83.79", "USD", 8379),
        ("300", "JPY", 300),
        ("300.000", "JPY", 300),
        ("1.234", "KWD", 1234),
        ("0", "EUR", 0),
        ("-12.50", "EUR", -1250),
        ("1E+3", "USD", 100000),
    ],
)
def test_whole_minor_units(amount: str, currency: str, whole: int) -> None:
    assert minor_units(Decimal(amount), currency) == whole


@pytest.mark.parametrize(
    ("amount", "currency"),
    [
        ("83.79176", "USD"),
        ("0.5", "JPY"),
        ("1.2345", "KWD"),
        ("1.000000000000000000000000000000000001", "USD"),
        ("12345678901234.0000000000000000000001", "JPY"),
    ],
)
def test_a_finer_fraction_is_refused(amount: str, currency: str) -> None:
    with pytest.raises(AmountTooFine):
        minor_units(Decimal(amount), currency)


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "-Infinity", "1E+40", "1E+999999", "1e400"])
def test_an_amount_beyond_reason_is_refused(amount: str) -> None:
    with pytest.raises(ValueError, match=r"finite|too large"):
        minor_units(Decimal(amount), "USD")


@given(st.integers(-LARGEST_AMOUNT, LARGEST_AMOUNT), st.sampled_from(sorted(CURRENCIES)))
def test_minor_and_major_units_are_each_other(amount: int, currency: str) -> None:
    assert minor_units(major_units(amount, currency), currency) == amount


@given(st.decimals(allow_nan=False, allow_infinity=False), st.sampled_from(sorted(CURRENCIES)))
def test_any_amount_is_taken_exactly_or_refused(amount: Decimal, currency: str) -> None:
    try:
        whole = minor_units(amount, currency)
    except ValueError:
        return
    assert major_units(whole, currency) == amount
