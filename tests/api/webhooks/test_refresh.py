"""Hints that only a provider's API can explain: fetched once per object, in the background."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import pytest

from tests.api.webhooks.posting import environment, signed
from tests.api.webhooks.recurly_api import RecurlyApi, invoice, recurly_api
from tests.api.webhooks.renaming import Renamed
from tests.support.service import Service, fresh_service

SEQUENCE = [
    "recurly/charge_invoice.created.json",
    "recurly/charge_invoice.past_due.constructed.json",
    "recurly/charge_invoice.updated.constructed.json",
    "recurly/charge_invoice.paid.constructed.json",
]
STATES: list[dict[str, Any]] = [
    {"state": "pending", "updated_at": "2022-07-26T22:03:39Z"},
    {"state": "past_due", "updated_at": "2022-08-26T22:03:39Z"},
    {"state": "past_due", "updated_at": "2022-08-27T09:00:00Z", "balance": 40.1},
    {"state": "paid", "updated_at": "2022-08-29T10:15:00Z", "balance": 0.0},
]
"""What the invoice is at each of the events."""
_SECONDS = 20.0


@dataclass
class Fetching:
    """A service that may ask the API, and the API."""

    service: Service
    api: RecurlyApi

    def post(self, path: str, mark: str) -> str:
        """Post a sample; gives the number of the invoice that it names."""
        renamed = Renamed(path, mark)
        signed("recurly", renamed.body, self.service.clock).to(self.service).ok()
        return str(renamed.number(1031))

    def waiting(self) -> list[dict[str, Any]]:
        """What is still to be fetched."""
        items: list[dict[str, Any]] = self.service.get("/v1/webhooks/refresh").ok()["items"]
        return items

    def until(self, condition: Any) -> None:
        """Wait for the background task to have come that far."""
        give_up = time.monotonic() + _SECONDS
        while not condition():
            assert time.monotonic() < give_up, (self.waiting(), self.api.asked[-5:])
            time.sleep(0.02)

    def fetched(self) -> None:
        """Wait until nothing is to be fetched any more."""
        self.until(lambda: not self.waiting())

    def log(self, invoice_id: str) -> list[tuple[str, int]]:
        """When each snapshot on record was made, and what it says is owed."""
        events = self.service.get("/v1/events", aggregate=f"invoice:{invoice_id}").ok()["items"]
        seen = [e["state"]["snapshot"] for e in events if e["topic"].endswith("Observed")]
        return [(snapshot["observed_at"], snapshot["amount_remaining"]) for snapshot in seen]


@pytest.fixture(scope="module")
def shared_fetching(postgres: str) -> Iterator[Fetching]:
    """A service whose Recurly is the stand-in."""
    with recurly_api() as api:
        more = {"LEDGER_RECURLY_API_URL": api.url, "LEDGER_RECURLY_API_KEY": "private-key"}
        env = environment(**more)
        with fresh_service(postgres, "2027-01-15T12:00:00+00:00", env=env) as service:
            yield Fetching(service, api)


@pytest.fixture
def fetching(shared_fetching: Fetching) -> Fetching:
    """The shared one, with nothing left to fetch."""
    shared_fetching.api.answers.clear()
    shared_fetching.api.asked.clear()
    for item in shared_fetching.waiting():
        shared_fetching.service.post(f"/v1/webhooks/refresh/{item['refresh_id']}/done")
    return shared_fetching


def test_the_sequence_as_it_happens_leaves_each_state_once(fetching: Fetching, mark: str) -> None:
    number = str(Renamed(SEQUENCE[0], mark).number(1031))
    for path, state in zip(SEQUENCE, STATES, strict=True):
        fetching.api.answers[f"/invoices/number-{number}"] = invoice(number, **state)
        for _ in range(3):
            fetching.post(path, mark)
        fetching.fetched()
    assert fetching.log(f"uuid-{number}") == [
        ("2022-07-26T22:03:39Z", 10010),
        ("2022-08-26T22:03:39Z", 10010),
        ("2022-08-27T09:00:00Z", 4010),
        ("2022-08-29T10:15:00Z", 0),
    ]
    after = fetching.service.get(f"/v1/invoices/uuid-{number}").ok()
    assert (after["status"], after["amount_remaining"], after["due_on"]) == (
        "paid",
        0,
        "2022-08-25",
    )
    customer = fetching.service.get(f"/v1/customers/acc-{number}").ok()
    assert customer["addresses"] == [f"pat.{number}@example.com"]
    headers = fetching.api.headers[-1]
    assert headers["authorization"] == "Basic cHJpdmF0ZS1rZXk6"
    assert headers["accept"] == "application/vnd.recurly.v2021-02-25"


@pytest.mark.parametrize("order", [*permutations(SEQUENCE)][::5])
def test_in_any_order_afterwards_only_the_latest_state_is_taken(
    fetching: Fetching, mark: str, order: tuple[str, ...]
) -> None:
    number = str(Renamed(SEQUENCE[0], mark).number(1031))
    fetching.api.answers[f"/invoices/number-{number}"] = invoice(number, **STATES[-1])
    for path in order:
        fetching.post(path, mark)
    fetching.fetched()
    assert fetching.log(f"uuid-{number}") == [("2022-08-29T10:15:00Z", 0)]
    assert 1 <= fetching.api.asked.count(f"/invoices/number-{number}") <= len(order)


def test_a_payment_leads_to_its_invoice(fetching: Fetching, mark: str) -> None:
    number = f"EU-{mark}"
    uuid = "63b068f7d409d4b4478dea4e6aba58ae"
    fetching.api.answers[f"/transactions/uuid-{uuid}"] = {"invoice": {"number": number}}
    fetching.api.answers[f"/invoices/number-{number}"] = invoice(number)
    signed(
        "recurly", Renamed("recurly/payment.succeeded.json", mark).body, fetching.service.clock
    ).to(fetching.service).ok()
    fetching.until(lambda: fetching.log(f"uuid-{number}"))
    fetching.fetched()
    assert fetching.api.asked == [f"/transactions/uuid-{uuid}", f"/invoices/number-{number}"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((500, {}), "server_error"),
        ((503, {"retry-after": "0"}), "server_error"),
        ((429, {"retry-after": "1"}), "throttled"),
        ((401, {}), "key_refused"),
        ((302, {"location": "http://127.0.0.1:1/elsewhere"}), "refused"),
        (b" " * (2**20 + 1), "too_large"),
    ],
)
def test_what_cannot_be_fetched_stays_and_is_tried_again(
    fetching: Fetching, mark: str, answer: Any, error: str
) -> None:
    number = fetching.post(SEQUENCE[0], mark)
    path = f"/invoices/number-{number}"
    fetching.api.answers[path] = answer
    fetching.post(SEQUENCE[1], mark)
    fetching.until(lambda: [w["last_error"] for w in fetching.waiting()] == [error])
    assert (fetching.waiting()[0]["object_id"], fetching.waiting()[0]["fetched_by"]) == (
        number,
        "ledger",
    )
    fetching.api.answers[path] = invoice(number)
    fetching.post(SEQUENCE[2], mark)
    fetching.fetched()
    assert len(fetching.log(f"uuid-{number}")) == 1


def test_an_answer_that_is_of_no_use_is_kept_and_can_be_replayed(
    fetching: Fetching, mark: str
) -> None:
    number = str(Renamed(SEQUENCE[0], mark).number(1031))
    fetching.api.answers[f"/invoices/number-{number}"] = invoice(number, state="brand_new")
    fetching.post(SEQUENCE[0], mark)
    fetching.fetched()
    service = fetching.service
    kept = service.get("/v1/webhooks/rejected", provider="recurly", limit=1000).ok()["items"][-1]
    assert (kept["fetched"], kept["reasons"][0]["kind"]) == ("invoice", "unknown_status")
    again = service.post(f"/v1/webhooks/rejected/{kept['rejected_id']}/replay").ok()
    assert again["reasons"] == kept["reasons"]
    assert fetching.log(f"uuid-{number}") == []


def test_what_waits_too_long_pages_once(postgres: str, mark: str) -> None:
    """Without a configured API the work is left to people: listed, counted, and paged about."""
    with fresh_service(postgres, "2027-01-15T12:00:00+00:00", env=environment()) as service:
        fetching = Fetching(service, RecurlyApi())
        fetching.post(SEQUENCE[0], mark)
        fetching.post(SEQUENCE[1], mark)
        assert service.alerts("refresh_waiting") == []
        service.advance(minutes=61)
        give_up = time.monotonic() + 60
        while not service.alerts("refresh_waiting"):
            assert time.monotonic() < give_up
            time.sleep(0.2)
        assert len(service.alerts("refresh_waiting")) == 1
        metrics = service.call("GET", "/metrics").text
        assert 'send_ledger_refresh_waiting{provider="recurly"} 1.0' in metrics
        item = fetching.waiting()[0]
        assert (item["hints"], item["fetched_by"], item["attempts"]) == (2, "you", 0)
        service.post(f"/v1/webhooks/refresh/{item['refresh_id']}/done").ok()
        assert fetching.waiting() == []
