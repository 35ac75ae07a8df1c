"""The parts of a process that claims use."""

from dataclasses import dataclass

from api.claims.claimed_customers import ClaimedCustomers
from api.running.parts import Parts


@dataclass(kw_only=True)
class ClaimParts(Parts):
    """The parts of a process, and the customers that its claims have taken."""

    claimed: ClaimedCustomers
