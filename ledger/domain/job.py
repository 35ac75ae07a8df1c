"""A job's lease: one owner at a time, told apart by fencing tokens that only grow."""

from datetime import datetime
from typing import ClassVar

from eventsourcing.domain import Aggregate


class Job(Aggregate):
    """A job that one process at a time may do."""

    TOPIC: ClassVar[str] = "ledger:Job"

    class Event(Aggregate.Event):
        """Something that happened to a job's lease."""

        class_version: ClassVar[int] = 1

    class Created(Event, Aggregate.Created):
        """The ledger heard of this job for the first time."""

        TOPIC: ClassVar[str] = "ledger:Job.Created"
        name: str

    class LeaseTaken(Event):
        """A holder took the lease over, with a token higher than any before."""

        TOPIC: ClassVar[str] = "ledger:Job.LeaseTaken"
        holder: str
        token: int
        expires_at: datetime

        def apply(self, aggregate: "Job") -> None:
            aggregate.holder = self.holder
            aggregate.token = self.token
            aggregate.expires_at = self.expires_at

    class LeaseRenewed(Event):
        """The holder kept the lease."""

        TOPIC: ClassVar[str] = "ledger:Job.LeaseRenewed"
        expires_at: datetime

        def apply(self, aggregate: "Job") -> None:
            aggregate.expires_at = self.expires_at

    class LeaseGivenUp(Event):
        """The holder gave the lease up."""

        TOPIC: ClassVar[str] = "ledger:Job.LeaseGivenUp"

        def apply(self, aggregate: "Job") -> None:
            aggregate.holder = None
            aggregate.expires_at = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.holder: str | None = None
        self.token = 0
        self.expires_at: datetime | None = None

    def owner(self, now: datetime) -> str | None:
        """Who holds the lease now, None if it is free."""
        if self.holder is None or self.expires_at is None or self.expires_at <= now:
            return None
        return self.holder

    def owned_with(self, token: int, now: datetime) -> bool:
        """Is this the current token of a lease that has not run out?"""
        return self.owner(now) is not None and token == self.token
