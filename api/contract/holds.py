"""A hold as it is answered, of an invoice as of a customer or an address."""

from api.contract.fields import Body, Instant


class HoldState(Body):
    """A hold in force."""

    reason: str
    until: Instant | None = None
