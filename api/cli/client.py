"""The service that operator commands speak to: where it is, and calls to it over HTTP."""

import http.client
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import click

from api.settings.environment import default_data_dir
from api.settings.service_file import SERVICE_FILE

_DEFAULT_URL = "http://127.0.0.1:8080"
_TIMEOUT = 120.0
"""Seconds: a guard check takes up to a minute where an alert target is slow."""
_PAGE = 500
_NO_LEDGER = "what answers is not a ledger: is LEDGER_URL right?"


class SaysNo(click.ClickException):
    """The service answered with a problem document: one line, with its code."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status, self.code = status, str(problem.get("code", status))
        super().__init__(f"{problem.get('detail') or problem.get('title')} ({self.code})")


class Ledger:
    """A running service, and the key that it is shown.

    There is no proxy and no redirect: the key goes to the named machine and to no other.
    """

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise click.ClickException(f"LEDGER_URL: {url} is not an http or https address")
        self.url, self._key, self._path = url, key, parts.path.rstrip("/")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else None
        try:
            self._connection = (kind or http.client.HTTPConnection)(
                parts.hostname, parts.port, timeout=_TIMEOUT
            )
        except ValueError as error:
            raise click.ClickException(f"LEDGER_URL: {error}") from error

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        accept: str = "application/json",
    ) -> bytes:
        """The body of the answer. Raises SaysNo, or ClickException where nobody answers."""
        headers = {"Authorization": f"Bearer {self._key}", "Accept": accept}
        content = None
        if body is not None:
            content = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        given = {name: value for name, value in (query or {}).items() if value is not None}
        target = f"{self._path}{path}" + (f"?{urlencode(given)}" if given else "")
        try:
            self._connection.request(method, target, content, headers)
            answer = self._connection.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException) as error:
            why = str(error) or type(error).__name__
            raise click.ClickException(f"no ledger answers at {self.url}: {why}") from error
        finally:
            self._connection.close()
        if answer.status >= 300:
            raise SaysNo(answer.status, _problem(answer.status, said))
        return said

    def get(self, path: str, **query: Any) -> Any:
        """The answer to a GET; a parameter named `from_` is sent as `from`."""
        named = {name.rstrip("_"): value for name, value in query.items()}
        return _decoded(self.call("GET", path, query=named))

    def post(self, path: str, body: Any) -> Any:
        """The answer to a POST of JSON."""
        return _decoded(self.call("POST", path, body))

    def items(self, path: str, limit: int, **query: Any) -> Iterator[Any]:
        """The first `limit` items of a list, page by page."""
        cursor = None
        while limit > 0:
            page = self.get(path, limit=min(limit, _PAGE), cursor=cursor, **query)
            yield from page["items"]
            limit -= len(page["items"])
            cursor = page["next"]
            if cursor is None:
                return


def named(*parts: str) -> str:
    """A path below /v1 with ids in it, whatever characters they have."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def the_ledger() -> Ledger:
    """The service of LEDGER_URL, else the one that is announced, else one on this machine.

    Raises ClickException where there is no key for it.
    """
    url, key = os.environ.get("LEDGER_URL") or "", os.environ.get("LEDGER_KEY") or ""
    if not url:
        announced = _announced()
        url, key = announced.get("url") or "", key or announced.get("key") or ""
    if not key:
        raise click.ClickException(
            "there is no key to act with: set LEDGER_KEY (and LEDGER_URL), or LEDGER_DATA_DIR of a "
            "ledger that runs here; `send-ledger keys create NAME --scopes operate` makes a key"
        )
    return Ledger(url or _DEFAULT_URL, key)


def _announced() -> dict[str, Any]:
    """What the service that runs on this machine says of itself; nothing where there is none."""
    folder = Path(os.environ.get("LEDGER_DATA_DIR") or default_data_dir()).expanduser()
    for path in (os.environ.get("LEDGER_ANNOUNCE"), folder / SERVICE_FILE):
        try:
            said = json.loads(Path(path).read_text(encoding="utf-8")) if path else None
        except (OSError, ValueError):
            continue
        if isinstance(said, dict) and _lives(said.get("pid")):
            return said
    return {}


def _lives(pid: object) -> bool:
    """Is the process there? A service that was killed leaves its file behind."""
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _decoded(said: bytes) -> Any:
    try:
        return json.loads(said)
    except ValueError:
        raise click.ClickException(_NO_LEDGER) from None


def _problem(status: int, said: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(said)
    except ValueError:
        found = None
    if isinstance(found, dict) and "detail" in found:
        return found
    return {"detail": _NO_LEDGER, "code": status}
