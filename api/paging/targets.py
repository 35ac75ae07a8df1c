"""The targets of pages: Apprise URLs, which are secrets and are never shown."""

import asyncio
import copy
import hashlib
import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from apprise import Apprise, AppriseAsset, NotifyFormat, NotifyType
from apprise.plugins import url_to_dict
from apprise.result import AppriseResult, AppriseResultStatus

from api.paging.message import Message

DEDUPE_FIELDS = {
    "pagerduty": "dedup",
    "opsgenie": "alias",
    "splunk": "entity_id",
    "victorops": "entity_id",
    "pagertree": "thirdparty",
    "squadcast": "dedup",
    "ilert": "dedup",
    "incidentio": "dedup",
    "goalert": "dedup",
    "goalerts": "dedup",
    "firehydrant": "dedup",
    "signl4": "external_id",
}
"""Services with a deduplication field that Apprise supports, and that field's name in its class."""

_WEBHOOKS = frozenset({"json", "jsons", "form", "forms", "xml", "xmls"})
_MAIL = frozenset({"mailto", "mailtos"})
_LOUD_LIBRARIES = ("urllib3", "requests_oauthlib", "oauthlib", "paho", "slixmpp")
_SALT = b"send-ledger alert target"
_ADDRESS = re.compile(r"[^\s\"'<>(),;:]+@[^\s\"'<>(),;:]+")
_URL = re.compile(r"\w+://\S+")
_LONGEST_DETAIL = 200


class PagingError(Exception):
    """An invalid alert URL; the message has its position in the list, never the URL itself."""


class Sent(NamedTuple):
    """Whether a delivery succeeded, and the error if not, without addresses or secrets."""

    ok: bool
    detail: str


class Target:
    """One Apprise URL. `name` is its scheme and position; deliveries are stored by `fingerprint`.

    The fingerprint is slow to compute on purpose: it is stored in the database, and the URL may
    contain a password that someone could guess from a fast hash.
    """

    def __init__(self, url: str, place: int) -> None:
        self.name = f"{_shown_scheme(url)}#{place}"
        self._asset = AppriseAsset(
            app_id="send-ledger",
            app_desc="send-ledger alerts",
            app_url="",
            image_url_mask="",
            interpret_emojis=False,
            secure_logging=True,
        )
        parts = url_to_dict(url, secure_logging=True)  # type: ignore[no-untyped-call]
        if not parts or Apprise.instantiate(copy.deepcopy(parts), asset=self._asset) is None:
            raise PagingError(f"LEDGER_ALERT_URLS: Apprise cannot use URL {place} ({self.name})")
        self._parts: dict[str, Any] = parts
        self._secrets = sorted(set(_secrets_of(url)), key=len, reverse=True)
        self.fingerprint = hashlib.scrypt(
            url.encode(), salt=_SALT, n=2**14, r=8, p=1, dklen=16
        ).hex()

    async def send(self, message: Message, timeout: float) -> Sent:
        """Send the message within `timeout` seconds; after a timeout it may still arrive.

        Apprise runs the blocking call in its own threads.
        """
        apprise = Apprise(asset=self._asset)
        service = Apprise.instantiate(self._parts_for(message), asset=self._asset)
        if service is None:
            return Sent(False, "the message does not fit the service")
        apprise.add(service)
        try:
            async with asyncio.timeout(timeout + 1):
                result = await apprise.async_notify(
                    body=message.body,
                    title=message.title,
                    notify_type=NotifyType.WARNING if message.is_drill else NotifyType.FAILURE,
                    body_format=NotifyFormat.TEXT,
                    timeout=timeout,
                )
        except TimeoutError:
            return Sent(False, f"no answer within {timeout:g} s")
        return self._sent(result, timeout)

    def scrub(self, text: str) -> str:
        """Remove addresses, URLs and every part of this target's URL from a text."""
        for secret in self._secrets:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", text)
        return _ADDRESS.sub("***", _URL.sub("***", text))

    def _sent(self, result: AppriseResult, timeout: float) -> Sent:
        # Apprise's own total counts a failed service that is marked optional as a success.
        statuses = [attempt.status for one in result for attempt in one.attempts]
        if AppriseResultStatus.SUCCESS in statuses:
            return Sent(True, "")
        if AppriseResultStatus.TIMEOUT in statuses:
            return Sent(False, f"no answer within {timeout:g} s")
        said = [entry.message for entry in result.logs()]
        detail = self.scrub(" ".join(said[-1].split())) if said else "it was refused"
        return Sent(False, detail[:_LONGEST_DETAIL])

    def _parts_for(self, message: Message) -> dict[str, Any]:
        """The URL's parts, with the dedupe key where the service has a field for it.

        A value that the URL itself sets is kept. A page is one message: a long text is cut.
        """
        parts = copy.deepcopy(self._parts)
        parts.setdefault("overflow", "truncate")
        scheme = parts["schema"]
        if field := DEDUPE_FIELDS.get(scheme):
            parts[field] = parts.get(field) or message.short_key
        if scheme in _WEBHOOKS:
            extras = {"dedupe_key": message.dedupe_key, "reason": message.reason}
            parts["payload"] = extras | dict(parts.get("payload") or {})
        if scheme in _MAIL:
            headers = {"Ledger-Dedupe-Key": message.short_key}
            parts["headers"] = headers | dict(parts.get("headers") or {})
        return parts


def targets_of(urls: Sequence[str]) -> list[Target]:
    """The targets of these URLs, without repetitions. Raises PagingError."""
    if not urls:
        return []
    _quieten()
    places = {url: place for place, url in reversed(list(enumerate(urls, start=1)))}
    with warnings.catch_warnings():
        # The first URL makes Apprise load all its services; one imports a deprecated module.
        warnings.simplefilter("ignore", DeprecationWarning)
        return [Target(url, places[url]) for url in dict.fromkeys(urls)]


def _quieten() -> None:
    """Silence the loggers of Apprise and its libraries: they log hosts, users and recipients.

    Errors are still available from the result of each call.
    """
    apprise = logging.getLogger("apprise")
    apprise.setLevel(logging.WARNING)
    apprise.propagate = False
    if not apprise.handlers:
        apprise.addHandler(logging.NullHandler())
    for name in _LOUD_LIBRARIES:
        logging.getLogger(name).setLevel(logging.ERROR)


def _shown_scheme(url: str) -> str:
    scheme, separator, _ = url.partition("://")
    return scheme.lower() if separator and re.fullmatch(r"[A-Za-z0-9]{1,20}", scheme) else "url"


def _secrets_of(url: str) -> Iterator[str]:
    """Every word of a URL after its scheme, raw and decoded: each may be a credential."""
    place, _, query = url.partition("://")[2].partition("?")
    values = [item.partition("=")[2] for item in re.split("[&#]", query)]
    for text in (place, *values):
        for form in (text, unquote(text)):
            words = [form, *re.split(r"[/@:,;&=?#\s]+", form)]
            yield from (word for word in words if len(word) > 1)
