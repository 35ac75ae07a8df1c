"""Delivers one invoice's sample events in different orders and reads the resulting state."""

import json
import re
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.api.webhooks.posting import Post, signed
from tests.api.webhooks.renaming import Renamed
from tests.support.service import Client, Service

_FINGERPRINT = re.compile(r'"[0-9a-f]{32}"')


@dataclass
class Run:
    """Deliveries under names of their own, so that runs on one ledger do not meet."""

    hooks: Service
    invoice_id: str
    customer_id: str
    mark: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    def post(self, path: str) -> Post:
        """One delivery of a sample, signed now."""
        renamed = Renamed(path, self.mark)
        return signed(renamed.provider, renamed.body, self.hooks.clock)

    def deliver(self, paths: Iterable[str]) -> list[str]:
        """Post the samples one after the other; gives the result of each first fact."""
        return [result_of(self.post(path).to(self.hooks).ok()) for path in paths]

    def deliver_at_once(self, paths: Sequence[str], connections: int = 4) -> list[str]:
        """Post them over that many connections, each taking the next as soon as it is free."""
        posts = [self.post(path) for path in paths]
        base = str(self.hooks.http.base_url)
        lanes = [httpx.Client(base_url=base, timeout=30) for _ in range(connections)]
        free = list(lanes)

        def send(post: Post) -> str:
            lane = free.pop()
            try:
                return result_of(post.to(Client(lane, "")).ok())
            finally:
                free.append(lane)

        with ThreadPoolExecutor(connections) as threads:
            results = list(threads.map(send, posts))
        for lane in lanes:
            lane.close()
        return results

    def state(self) -> dict[str, Any]:
        """What the ledger says now of the invoice and its customer; positions left out."""
        invoice = self.hooks.get(f"/v1/invoices/{self.invoice_id}.{self.mark}").ok().body
        customer = self.hooks.get(f"/v1/customers/{self.customer_id}.{self.mark}").ok().body
        told = {
            "invoice": {k: v for k, v in invoice.items() if k not in ("position", "version")},
            "customer": {k: v for k, v in customer.items() if k not in ("position", "version")},
        }
        plain: dict[str, Any] = json.loads(json.dumps(told).replace(self.mark, "MARK"))
        return plain

    def log(self) -> list[tuple[str, Any]]:
        """The events of the invoice and its customer, in order, without a run's names and times."""
        events = self.hooks.get(
            "/v1/events", customer_id=f"{self.customer_id}.{self.mark}", limit=1000
        ).ok()["items"]
        return [(event["topic"], self._plain(event["state"])) for event in events]

    def _plain(self, state: dict[str, Any]) -> Any:
        kept = {name: value for name, value in state.items() if name != "timestamp"}
        text = json.dumps(kept).replace(self.mark, "MARK")
        return json.loads(_FINGERPRINT.sub('"FINGERPRINT"', text))


def result_of(answer: Any) -> str:
    """What became of the first fact of a body."""
    result: str = answer["results"][0]["result"]
    return result


def firsts(arrivals: Iterable[str]) -> list[str]:
    """The samples in the order in which each arrived first."""
    return list(dict.fromkeys(arrivals))
