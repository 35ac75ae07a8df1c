"""Fills a ledger with invoices through its HTTP interface, many facts per request."""

import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

_PER_CALL = 1000
_CALLS_AT_A_TIME = 2
_TIMEOUT = 120.0


class Client:
    """An HTTP client with one connection. Raises OSError where the server is gone."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(
            parts.hostname or "", parts.port, timeout=_TIMEOUT
        )
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Make a request; returns the status and the body."""
        self._connection.request(method, path, body, self._headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def expect(self, status: int, method: str, path: str, body: bytes | None = None) -> bytes:
        """Make a request; returns the body. Raises RuntimeError for any other status."""
        found, text = self.ask(method, path, body)
        if found != status:
            raise RuntimeError(f"{method} {path} answered {found}: {text[:500]!r}")
        return text

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class Teller:
    """Posts the facts that benchmarks need."""

    def __init__(self, url: str, key: str) -> None:
        self._url, self._key = url, key

    def invoices(self, first: int, count: int, prefix: str = "b", age_days: int = 5) -> None:
        """Post open invoices `<prefix><n>`, `age_days` past due, each of a separate customer."""
        due = days_ago(age_days)
        self.facts(
            [
                invoice_observed(f"{prefix}{n}", f"c-{prefix}{n}", due)
                for n in range(first, first + count)
            ]
        )

    def facts(self, facts: list[dict[str, Any]]) -> None:
        """Post facts. Raises RuntimeError where one is not applied."""
        calls = [facts[start : start + _PER_CALL] for start in range(0, len(facts), _PER_CALL)]
        with ThreadPoolExecutor(_CALLS_AT_A_TIME) as pool:
            list(pool.map(self._post, calls))

    def _post(self, facts: list[dict[str, Any]]) -> None:
        client = Client(self._url, self._key)
        try:
            body = json.dumps({"facts": facts}).encode()
            results = json.loads(client.expect(200, "POST", "/v1/facts", body))["results"]
        finally:
            client.close()
        odd = [result for result in results if result["result"] != "applied"]
        if odd:
            raise RuntimeError(f"{len(odd)} facts were not applied, the first: {odd[0]}")


def days_ago(days: int) -> date:
    """A day in the past (UTC)."""
    return datetime.now(UTC).date() - timedelta(days=days)


def invoice_observed(invoice_id: str, customer_id: str, due: date) -> dict[str, Any]:
    """The fact of an open invoice of 300.00 USD."""
    return {
        "id": f"of-{invoice_id}",
        "source": "bench",
        "type": "invoice.observed",
        "data": {
            "invoice_id": invoice_id,
            "customer_id": customer_id,
            "email": f"{customer_id}@example.com",
            "currency": "USD",
            "total": 30000,
            "amount_remaining": 30000,
            "due_on": due.isoformat(),
            "status": "open",
        },
    }
