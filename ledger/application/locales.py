"""Locales: the written form of amounts for people, by the names that Babel knows."""

from functools import lru_cache

from babel import Locale, UnknownLocaleError


class UnknownLocale(ValueError):
    """The locale is not one that Babel knows, such as en_US or de_DE."""


@lru_cache(maxsize=64)
def locale_named(name: str) -> Locale:
    """The locale of that name. Raises UnknownLocale."""
    try:
        return Locale.parse(name)
    except (UnknownLocaleError, ValueError, TypeError):
        raise UnknownLocale(f"{name!r} is not a locale such as en_US or de_DE") from None
