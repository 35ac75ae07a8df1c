"""Guard checks as requests and answers carry them (contract: People)."""

from api.contract.fields import Body, Instant, Metadata


class GuardCheckRequest(Body):
    """Run a guard check; there is nothing to choose."""

    metadata: Metadata | None = None


class ProbeResult(Body):
    """One probe, whether it passed, and what it saw."""

    name: str
    passed: bool
    detail: str


class GuardCheckAnswer(Body):
    """A guard check that ended: it passed where every probe did. `id` is what a resume names."""

    id: str
    started_at: Instant
    passed: bool
    checks: list[ProbeResult]
    position: str
