"""The client and a real ledger: each kind, the words of a denial, the poller, pauses, facts."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.support.service import Client, Service

from sendledger import (
    Ask,
    AsyncLedger,
    Denied,
    Ledger,
    Outcome,
    Pace,
    Permit,
    Refused,
    Unavailable,
    kinds,
)


@pytest.fixture
def key(service: Service) -> Client:
    """A key that sends and tells facts."""
    return service.client("send", "facts")


@pytest.fixture
def ledger(service: Service, key: Client) -> Iterator[Ledger]:
    """A client with that key."""
    with Ledger(str(service.http.base_url), key.key) as made:
        yield made


@pytest.fixture
def name() -> str:
    """A text that is in no other test's ids."""
    return uuid.uuid4().hex[:12]


def snapshot(customer: str, **more: Any) -> dict[str, Any]:
    """An invoice that is past due."""
    return {
        "customer_id": customer,
        "email": f"{customer}@example.com",
        "currency": "EUR",
        "total": 12_000,
        "amount_remaining": 12_000,
        "status": "open",
        "due_on": "2026-11-26",
        **more,
    }


def inbound(thread: str, message_id: str) -> dict[str, Any]:
    """A message of a person."""
    return {
        "thread_id": thread,
        "message_id": message_id,
        "direction": "inbound",
        "from": f"{thread}@example.com",
        "to": "billing@example.org",
        "customer_id": f"c-{thread}",
        "at": "2026-11-30T09:00:00Z",
        "headers": {"Auto-Submitted": "no"},
    }


def of_kind(kind: str, name: str) -> Ask:
    """A request of each kind that a ledger without history grants."""
    asks: dict[str, Callable[[], Ask]] = {
        "reminder": lambda: kinds.reminder(
            invoices=[f"i-{name}"],
            stage="day-3",
            expected={f"i-{name}": {"cycle": 1, "amount_remaining": 12_000}},
            facts={f"i-{name}": snapshot(f"c-{name}")},
        ),
        "payment_failed": lambda: kinds.payment_failed(
            invoice_id=f"i-{name}",
            event_id=f"e-{name}",
            attempt_id=f"a-{name}",
            facts={f"i-{name}": snapshot(f"c-{name}")},
        ),
        "reply": lambda: kinds.reply(
            thread_id=f"t-{name}",
            in_reply_to=f"<q-{name}@example.com>",
            message=inbound(f"t-{name}", f"<q-{name}@example.com>"),
        ),
        "message": lambda: kinds.message(
            thread_id=f"t-{name}", intent="refund_notice", customer_id=f"c-{name}"
        ),
        "follow_up": lambda: kinds.follow_up(
            thread_id=f"t-{name}", step=1, to=f"{name}@example.com"
        ),
        "notification": lambda: kinds.notification(
            event_type="shipped", event_id=f"o-{name}", customer_id=f"c-{name}"
        ),
        "digest": lambda: kinds.digest(
            inbox_id=f"in-{name}", date="2026-12-01", to=f"{name}@example.com"
        ),
    }
    return asks[kind]()


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("reminder", "already_sent"),
        ("payment_failed", "already_sent"),
        ("reply", "already_replied"),
        ("message", "duplicate_intent"),
        ("follow_up", "already_sent"),
        ("notification", "already_sent"),
        ("digest", "already_sent"),
    ],
)
def test_each_kind_is_sent_once_and_the_second_hears_of_the_first(
    service: Service, ledger: Ledger, key: Client, name: str, kind: str, code: str
) -> None:
    first = ledger.send_once(of_kind(kind, name), send=lambda permit: f"re_{name}")
    assert (first.state, first.duplicate, first.value) == ("sent", False, f"re_{name}")
    second = ledger.send_once(of_kind(kind, name), send=_must_not_run)
    assert (second.permit_id, second.provider_message_id) == (first.permit_id, f"re_{name}")
    assert (second.state, second.duplicate, second.value) == ("sent", True, None)
    assert second.sender == key.name
    assert second.sent_at is not None
    opened: Any = getattr(ledger.permit, kind)
    with pytest.raises(Denied) as caught, opened(**of_kind(kind, name).fields):
        pass
    assert (caught.value.code, caught.value.next_action) == (code, "stop")
    assert caught.value.is_duplicate
    assert caught.value.original is not None
    assert caught.value.original.permit_id == first.permit_id
    assert key.get(f"/v1/permits/{first.permit_id}").ok()["state"] == "sent"


def _must_not_run(permit: Permit) -> None:
    raise AssertionError("a second mail")


def test_an_apology_is_sent_once_and_carries_a_statement(
    service: Service, ledger: Ledger, name: str
) -> None:
    operator = service.client("operate")
    incident = operator.post(
        "/v1/incidents",
        {
            "title": "flood",
            "from": "2026-11-30T00:00:00Z",
            "to": "2026-11-30T12:00:00Z",
            "cause": "a poller without memory",
        },
    ).ok(201)["incident_id"]
    ledger.put_invoice(f"i-{name}", snapshot(f"c-{name}"))
    ask = kinds.apology(incident_id=incident, customer_id=f"c-{name}")
    with pytest.raises(Denied) as caught:
        ledger.send_once(ask, send=_must_not_run)
    assert (caught.value.code, caught.value.next_action) == ("not_paused", "ask_human")
    operator.post("/v1/control/pause", {"scope": f"sender:{name}", "reason": "flood"}).ok()
    with ledger.permit.apology(incident_id=incident, customer_id=f"c-{name}") as permit:
        assert permit.statement is not None
        assert permit.statement["owed"][0]["amount"] == 12_000
        permit.sent()
    assert ledger.send_once(ask, send=_must_not_run).duplicate


def test_the_permit_names_address_headers_and_keys(ledger: Ledger, name: str) -> None:
    ask = of_kind("reply", name)
    with ledger.permit(ask) as permit:
        assert permit.to == f"t-{name}@example.com"
        assert permit.headers["Auto-Submitted"] == "auto-replied"
        assert permit.headers["In-Reply-To"] == f"<q-{name}@example.com>"
        assert permit.headers["Message-ID"] == permit.message_id
        assert permit.headers["X-Ledger-Send"] == permit.send_token
        assert len(permit.provider_idempotency_key or "") == 48
        assert permit.in_time
        permit.sent()


@pytest.mark.parametrize(
    ("error", "state"), [(Refused("550"), "rejected"), (OSError("broken"), "unknown")]
)
def test_the_ledger_has_what_a_failed_block_left(
    ledger: Ledger, key: Client, name: str, error: Exception, state: str
) -> None:
    seen: list[Permit] = []

    def fails() -> None:
        with ledger.permit(of_kind("notification", name)) as permit:
            seen.append(permit)
            raise error

    with pytest.raises(type(error)):
        fails()
    assert key.get(f"/v1/permits/{seen[0].permit_id}").ok()["state"] == state
    if state == "rejected":
        assert not ledger.send_once(of_kind("notification", name), send=lambda p: "1").duplicate
    else:
        with pytest.raises(Denied) as caught:
            ledger.send_once(of_kind("notification", name), send=_must_not_run)
        assert (caught.value.code, caught.value.next_action) == ("outcome_unknown", "find_out")


def test_the_poller_is_safe_to_run_twice(ledger: Ledger, name: str) -> None:
    list(ledger.due())
    for number in range(5):
        put = ledger.put_invoice(f"i{number}-{name}", snapshot(f"c{number}-{name}"))
        assert put["applied"]
    mailed = []
    for permit in ledger.due(limit=2):
        assert [item["stage"] for item in permit.items] == ["day-3"]
        mailed.append(permit.to)
        permit.sent()
    assert sorted(mailed) == [f"c{number}-{name}@example.com" for number in range(5)]
    assert list(ledger.due()) == []


def test_two_pollers_at_once_share_what_is_due(service: Service, name: str) -> None:
    key = service.client("send", "facts").key
    mailed: list[str | None] = []

    async def poll(ledger: AsyncLedger) -> None:
        async for permit in ledger.due(limit=2):
            await asyncio.sleep(0)
            mailed.append(permit.to)
            permit.sent()

    async def both() -> None:
        url = str(service.http.base_url)
        async with AsyncLedger(url, key) as one, AsyncLedger(url, key) as other:
            for number in range(6):
                await one.put_invoice(f"i{number}-{name}", snapshot(f"c{number}-{name}"))
            await asyncio.gather(poll(one), poll(other))
            await poll(one)

    asyncio.run(both())
    assert sorted(str(to) for to in mailed) == [f"c{n}-{name}@example.com" for n in range(6)]


def test_one_client_serves_several_event_loops(service: Service, name: str) -> None:
    ledger = AsyncLedger(str(service.http.base_url), service.client("send").key)

    async def send(number: int) -> bool:
        ask = of_kind("notification", f"{name}-{number}")
        try:
            return (await ledger.send_once(ask, send=_nothing)).duplicate
        finally:
            await ledger.close()

    assert [asyncio.run(send(number)) for number in (1, 2, 1)] == [False, False, True]


async def _nothing(permit: Permit) -> None:
    """The provider gives no id."""


def test_who_breaks_out_of_the_poller_leaves_the_rest_for_later(
    service: Service, ledger: Ledger, name: str
) -> None:
    list(ledger.due())
    for number in range(3):
        ledger.put_invoice(f"i{number}-{name}", snapshot(f"c{number}-{name}"))
    for permit in ledger.due():
        permit.sent()
        break
    assert list(ledger.due()) == []
    service.advance(minutes=11)
    assert len([permit.sent() for permit in ledger.due()]) == 2


def test_a_slow_agent_asks_first_and_redeems_what_still_holds(
    service: Service, ledger: Ledger, key: Client, name: str
) -> None:
    granted = ledger.ask(of_kind("notification", name))
    with ledger.redeem(granted) as permit:
        permit.sent()
    assert key.get(f"/v1/permits/{granted.permit_id}").ok()["state"] == "sent"
    unused = ledger.ask(of_kind("message", name))
    assert ledger.give_back(unused)
    paid = ledger.ask(of_kind("reminder", name))
    ledger.tell(
        [
            {
                "source": "billing",
                "type": "invoice.payment",
                "data": {
                    "invoice_id": f"i-{name}",
                    "payment_id": f"p-{name}",
                    "amount": 12_000,
                    "state": "succeeded",
                },
            }
        ]
    )
    with pytest.raises(Denied) as caught, ledger.redeem(paid):
        pass
    assert caught.value.code == "revoked"


def test_a_wrong_key_and_a_closed_port_send_nothing(service: Service, name: str) -> None:
    ask = of_kind("digest", name)
    stranger = Ledger(str(service.http.base_url), "slk_nobody")
    alone = Ledger("http://127.0.0.1:9", "slk_nobody", pace=Pace(deadline=0.05))
    with stranger, pytest.raises(Denied) as caught:
        stranger.send_once(ask, send=_must_not_run)
    assert (caught.value.status, caught.value.code) == (401, "unauthorized")
    with alone, pytest.raises(Unavailable):
        alone.send_once(ask, send=_must_not_run)


def test_what_is_reported_and_read_outside_of_a_block(
    ledger: Ledger, key: Client, name: str
) -> None:
    granted = ledger.ask(of_kind("notification", name))
    ledger.redeem(granted).__enter__()
    assert ledger.report(granted.permit_id, Outcome("sent"))["state"] == "sent"
    with pytest.raises(Denied) as caught:
        ledger.report(granted.permit_id, Outcome("rejected"))
    assert caught.value.code == "already_settled"
    assert ledger.read(f"/v1/permits/{granted.permit_id}")["state"] == "sent"
    assert ledger.read("/v1/due", limit=1, stage=None)["items"] == []
