"""Defines a read model: a name, tables, and the statements that apply a range of the log."""

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

    `steps` are run in this order for a range of positions (after, upto]. Their result must depend
    only on the log and not on the ranges that were applied: a rebuild uses other ranges.
    Increase `version` with every change of the result; an older generation is then rebuilt.
    """

    name: str
    version: int
    tables: tuple[str, ...]
    steps: tuple[str, ...]
    settings: Settings | None = None
    """The part of the policy that it depends on, as parameters of `policy.sql`; None: no part."""

    def policy_digest(self, policy: Policy) -> str:
        """A digest of the part of the policy that it depends on; a change requires a rebuild."""
        if self.settings is None:
            return ""
        text = json.dumps(self.settings(policy), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
