"""What a read model is: a name, its tables, and the statements that take a range of the log in."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ledger.domain.policy import Policy

Settings = Callable[[Policy], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ReadModel:
    """A read model; its SQL is in `sql/<name>/`, `create.sql` makes its tables.

    `steps` are run in this order for a range of positions (after, upto]. What they leave must
    depend on the log alone, and not on how it was cut into ranges: a rebuild takes other cuts.
    `version` goes up with every change of what they leave; an older generation is then rebuilt.
    """

    name: str
    version: int
    tables: tuple[str, ...]
    steps: tuple[str, ...]
    settings: Settings | None = None
    """The part of the policy that it is computed by, as values of `policy.sql`; None: none."""

    def policy_digest(self, policy: Policy) -> str:
        """A digest of the part of the policy that it is computed by; another asks for a rebuild."""
        if self.settings is None:
            return ""
        text = json.dumps(self.settings(policy), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
