"""Currencies of ISO 4217 and their minor units; amounts are whole minor units everywhere."""

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Decimal, localcontext

_NO_MINOR_UNIT = frozenset(
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split()
)
_THREE_DECIMALS = frozenset("BHD IQD JOD KWD LYD OMR TND".split())
_FOUR_DECIMALS = frozenset("CLF UYW".split())
_TWO_DECIMALS = frozenset(
    """AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN
    BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL
    GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD
    LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN
    PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB
    TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG""".split()
)
CURRENCIES = _NO_MINOR_UNIT | _TWO_DECIMALS | _THREE_DECIMALS | _FOUR_DECIMALS
"""Every currency code the ledger takes (ISO 4217, list one, without funds and metals)."""

LARGEST_AMOUNT = 2**53 - 1
"""Largest amount taken, in minor units: the largest that every JSON reader keeps exactly."""


class UnknownCurrency(ValueError):
    """The currency is not an ISO 4217 code in upper case."""


class AmountTooFine(ValueError):
    """The amount has a fraction finer than the currency's minor unit (design decision D10)."""


def exponent(currency: str) -> int:
    """How many decimals the currency has: JPY 0, USD 2, KWD 3.

    Raises UnknownCurrency for anything that is not in ISO 4217.
    """
    if currency in _TWO_DECIMALS:
        return 2
    if currency in _NO_MINOR_UNIT:
        return 0
    if currency in _THREE_DECIMALS:
        return 3
    if currency in _FOUR_DECIMALS:
        return 4
    raise UnknownCurrency(f"{currency!r} is not an ISO 4217 currency")


def minor_units(amount: Decimal, currency: str) -> int:
    """A decimal amount in major units as whole minor units: 83.79 USD is 8379.

    Raises AmountTooFine where the currency has no such fraction, UnknownCurrency, or ValueError
    for an amount that is not a finite number within LARGEST_AMOUNT.
    """
    if not amount.is_finite():
        raise ValueError("an amount is a finite number")
    if amount.adjusted() > 30:
        raise ValueError(f"{amount} {currency} is too large")
    # The usual context rounds to 28 digits, and a fraction beyond them would go unseen.
    with localcontext(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX):
        scaled = amount.scaleb(exponent(currency))
        whole = int(scaled)
        if whole != scaled:
            raise AmountTooFine(f"{amount} is finer than the minor unit of {currency}")
    if abs(whole) > LARGEST_AMOUNT:
        raise ValueError(f"{amount} {currency} is too large")
    return whole


def major_units(amount: int, currency: str) -> Decimal:
    """Whole minor units as a decimal in major units: 8379 USD is 83.79; 300 JPY is 300."""
    return Decimal(amount).scaleb(-exponent(currency))
