"""Schemas of guard checks (contract: People)."""

from api.contract.fields import Body, Instant, Metadata


class GuardCheckRequest(Body):
    """Run a guard check; it has no options."""

    metadata: Metadata | None = None


class ProbeResult(Body):
    """One probe, whether it passed, and what it observed."""

    name: str
    passed: bool
    detail: str


class GuardCheckAnswer(Body):
    """A finished guard check: it passed if every probe passed. A resume names its `id`."""

    id: str
    started_at: Instant
    passed: bool
    checks: list[ProbeResult]
    position: str
