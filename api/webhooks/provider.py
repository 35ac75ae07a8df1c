"""What goes into a provider's file (settings) and comes out of it (facts, hints, rejections)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What one endpoint is configured with (`LEDGER_WEBHOOK_<PROVIDER>_*`).

    `secrets` holds several at once so that a secret can be changed without a gap; for providers
    with Basic credentials each is `user:password`, for SNS each is the ARN of a topic that may
    post here. `mode` is "live" or "test": what belongs to the other one is ignored. `prefix` goes
    in front of every invoice and customer id. `source` is the CloudEvents source of the facts, the
    scope within which their ids are deduplicated. `reminders` says that the provider still mails
    its own reminders, so that their reports become `send.observed`. `fetch_certificate` gives the
    bytes behind an https URL; only SNS signatures need it. `time_zone` is the IANA zone in which an
    instant becomes a day: the policy's.
    """

    secrets: tuple[str, ...] = field(repr=False)
    source: str
    mode: str = "live"
    prefix: str = ""
    reminders: bool = True
    time_zone: str = "UTC"
    fetch_certificate: Callable[[str], bytes] | None = None


@dataclass(frozen=True)
class Fact:
    """One fact as `POST /v1/facts` takes it; `time` is aware, `data` is plain JSON."""

    id: str
    source: str
    type: str
    time: datetime | None
    data: dict[str, object]

    def cloud_event(self) -> dict[str, object]:
        """The fact as a CloudEvent in JSON, `time` as RFC 3339 (or left out)."""
        event: dict[str, object] = {"id": self.id, "source": self.source, "type": self.type}
        if self.time is not None:
            event["time"] = self.time.isoformat()
        return event | {"data": self.data}


@dataclass(frozen=True)
class Rejected:
    """A body, or a part of one, that cannot be used: to be kept, and alerted on once per kind.

    Neither text is ever taken from a value in the body, so no address can be in it (D18).
    """

    kind: str
    detail: str


@dataclass(frozen=True)
class Refresh:
    """A hint that something changed at the provider which only its API can tell."""

    provider: str
    object_kind: str
    object_id: str


@dataclass(frozen=True)
class Translation:
    """What one body means. Parts of a body may be ignored or rejected beside facts of the rest.

    `ignored` is the reason, from a small fixed set of words, why something was irrelevant on
    purpose: counted, never alerted on.
    """

    facts: tuple[Fact, ...] = ()
    ignored: str | None = None
    rejected: tuple[Rejected, ...] = ()
    refresh: tuple[Refresh, ...] = ()


class BadSignature(Exception):
    """The delivery is not proven to be the provider's; the message names no secret and no value."""


class Provider(Protocol):
    """One provider: who posted, and what it means. Header names are in lower case."""

    @property
    def name(self) -> str:
        """The name in `POST /v1/webhooks/{provider}`."""
        ...

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> None:
        """Check the signature or credentials over the raw bytes. Raises BadSignature."""
        ...

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """What a verified body means. Never raises: what cannot be used is rejected."""
        ...
