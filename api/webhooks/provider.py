"""The protocol of a webhook provider: its settings, and its result (facts, hints, rejections)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one endpoint (`LEDGER_WEBHOOK_<PROVIDER>_*`).

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
    """One fact as `POST /v1/facts` takes it; `time` has a zone, `data` is plain JSON."""

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
    """A body or a part of one that cannot be used: it is stored, with one alert per kind.

    Both texts are fixed in our code, never values of the body, so they have no address (D18).
    """

    kind: str
    detail: str


@dataclass(frozen=True)
class Refresh:
    """A hint that an object changed at the provider and must be fetched from its API."""

    provider: str
    object_kind: str
    object_id: str


@dataclass(frozen=True)
class Translation:
    """The translation of one body; parts may be ignored or rejected, the rest becomes facts.

    `ignored` is the reason, one of a small fixed set of words, why something is irrelevant:
    counted, never alerted on.
    """

    facts: tuple[Fact, ...] = ()
    ignored: str | None = None
    rejected: tuple[Rejected, ...] = ()
    refresh: tuple[Refresh, ...] = ()


class BadSignature(Exception):
    """The sender is not proven to be the provider; the message has no secret and no value."""


class Provider(Protocol):
    """One provider: verifies and translates its webhooks. Header names are in lower case."""

    @property
    def name(self) -> str:
        """The name in `POST /v1/webhooks/{provider}`."""
        ...

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> str | None:
        """Check the signature or credentials over the raw bytes. Raises BadSignature.

        Returns the token of a signature that does not cover the body, None where it does: such a
        token is then taken for this body only.
        """
        ...

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """Translate a verified body. Never raises: an unusable body is rejected."""
        ...
