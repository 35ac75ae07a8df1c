"""The demo's client: it uses only the HTTP interface."""

import hashlib
import hmac
import json
import urllib.error
import urllib.request
from datetime import datetime
from typing import Any


class DemoClient:
    """An HTTP client for one service and one key."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Make a request; returns the status and the JSON body."""
        data = json.dumps(body).encode() if body is not None else None
        return self._send(method, path, data, {"Authorization": f"Bearer {self.key}"})

    def stripe(self, body: bytes, secret: str, now: datetime) -> tuple[int, Any]:
        """Post a webhook as Stripe does, with its signature over the raw bytes."""
        at = int(now.timestamp())
        signed = hmac.new(secret.encode(), b"%d.%b" % (at, body), hashlib.sha256).hexdigest()
        header = {"Stripe-Signature": f"t={at},v1={signed}"}
        return self._send("POST", "/v1/webhooks/stripe", body, header)

    def set_clock(self, at: datetime) -> None:
        """Set the test clock."""
        self.call("POST", "/v1/test-clock", {"now": at.isoformat()})

    def _send(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str]
    ) -> tuple[int, Any]:
        request = urllib.request.Request(
            self.url + path,
            data=data,
            method=method,
            headers={"Content-Type": "application/json", **headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")
