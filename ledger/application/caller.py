"""Who asks: an API key with its scopes, or the ledger itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """The API key that asks; `intents` None means any."""

    key_id: str
    name: str
    scopes: frozenset[str]
    redeem_required: bool = True
    intents: frozenset[str] | None = None
    transactional: bool = False

    def may(self, scope: str) -> bool:
        """Does the key have this scope?"""
        return scope in self.scopes


SYSTEM = Caller("system", "system", frozenset({"send", "facts", "operate", "audit", "admin"}))
"""The ledger itself: sweeps, guard checks and imports."""
