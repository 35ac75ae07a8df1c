"""Addresses as gates compare them."""

from ledger.domain.identity import BadAddress, normal_form


def same_address(address: str) -> str:
    """An address as it is compared; what is none stays as it is, without case."""
    try:
        return normal_form(address)
    except BadAddress:
        return address.casefold()
