"""One GET request to a provider's API: limited in time and size, without redirects."""

import urllib.error
import urllib.request
from email.message import Message
from http.client import HTTPException

from ledger.application.clock import stopwatch

_TIMEOUT_SECONDS = 10.0
"""Timeout of one step (connecting, one read), in seconds."""
_DEADLINE_SECONDS = 30.0
"""Timeout of the whole request, in seconds."""
_LONGEST = 1024 * 1024
_PIECE = 64 * 1024
_LONGEST_WAIT_SECONDS = 3600.0
_REASONS = {401: "key_refused", 403: "key_refused", 404: "not_found", 429: "throttled"}


class FetchFailed(Exception):
    """The fetch failed. `reason` is a fixed word; `wait` is the server's Retry-After in seconds."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.wait = reason, wait


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follow no redirect: the key must be sent to the configured host only."""


_OPENER = urllib.request.build_opener(_NoRedirect)


def fetch_object(address: str, headers: dict[str, str]) -> bytes:
    """The body at a URL; blocks. Raises FetchFailed."""
    give_up = stopwatch() + _DEADLINE_SECONDS
    request = urllib.request.Request(address, headers=headers)
    try:
        with _OPENER.open(request, timeout=_TIMEOUT_SECONDS) as answer:
            pieces: list[bytes] = []
            size = 0
            while piece := answer.read1(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > _LONGEST:
                    raise FetchFailed("too_large")
                if stopwatch() > give_up:
                    raise FetchFailed("too_slow")
            return b"".join(pieces)
    except urllib.error.HTTPError as error:
        error.close()
        reason = _REASONS.get(error.code, "server_error" if error.code >= 500 else "refused")
        raise FetchFailed(reason, _wait(error.headers)) from None
    except TimeoutError:
        raise FetchFailed("too_slow") from None
    except (OSError, HTTPException):
        raise FetchFailed("unreachable") from None


def _wait(headers: Message) -> float | None:
    text = (headers.get("Retry-After") or "").strip()
    return min(float(text), _LONGEST_WAIT_SECONDS) if text.isdecimal() and len(text) < 9 else None
