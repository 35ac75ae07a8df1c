"""The parts of a process that a claim uses."""

from dataclasses import dataclass

from api.claims.claimed_customers import ClaimedCustomers
from api.running.parts import Parts


@dataclass(kw_only=True)
class ClaimParts(Parts):
    """The parts of a process, and the customers whom its claims have asked for."""

    claimed: ClaimedCustomers
