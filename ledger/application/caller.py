"""Who asks: an API key with its scopes and limits, or the ledger itself."""

from enum import Enum

from ledger.application.key_limits import KeyLimits
from ledger.domain.value import value


class Riding(Enum):
    """Which of the facts that ride along with its requests a key is believed (ADR 0014)."""

    ALL = "all"
    """Every one, and they stay whatever the answer is: as a fact of `POST /v1/facts`."""
    OWN = "own"
    """Those about what is asked for, that harm nobody, and only together with a grant."""
    NONE = "none"
    """None: a request that has any is refused."""


@value
class Caller:
    """The API key that asks; `limits` None means that only its scopes limit it.

    `rides` is the key's own choice of what it is believed; None leaves it to the scopes.
    """

    key_id: str
    name: str
    scopes: frozenset[str]
    redeem_required: bool = True
    limits: KeyLimits | None = None
    transactional: bool = False
    rides: Riding | None = None

    def may(self, scope: str) -> bool:
        """Does the key have this scope?"""
        return scope in self.scopes

    @property
    def riding(self) -> Riding:
        """Which riding facts it is believed: all of them only with the scope `facts`."""
        if not self.may("facts"):
            return Riding.NONE if self.rides is Riding.NONE else Riding.OWN
        return self.rides or Riding.ALL

    @property
    def reads_addresses(self) -> bool:
        """May an answer tell it an address?"""
        return self.limits is None or self.limits.reads_addresses


SYSTEM = Caller("system", "system", frozenset({"send", "facts", "operate", "audit", "admin"}))
"""The ledger itself: sweeps, guard checks and imports."""
