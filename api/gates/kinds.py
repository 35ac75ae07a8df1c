"""The kinds of mail as gates know them: their names, and which take an address."""

from typing import get_args

from api.contract.fields import Kind

KINDS: tuple[str, ...] = get_args(Kind)
"""All kinds."""
TAKES_TO = frozenset({"reply", "message", "follow_up", "notification", "digest"})
"""The kinds whose request has a `to`; those of others go where the ledger says."""
