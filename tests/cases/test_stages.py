"""Cases about stages: a record of (invoice, cycle, stage), not of a key, a plan or an age."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.cases.timeline import Story
from tests.support.service import Client, Service

_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)


@pytest.mark.starts("2026-12-01T00:00:00Z")
def test_poller_every_minute(service: Service, tell: Callable[..., None], name: str) -> None:
    pollers = [service.client("send") for _ in range(3)]
    service.put_invoice(name, customer_id=name, due_on="2026-12-01").ok()

    def story() -> Story:
        yield "2026-12-04T00:00:10Z"
        permit = pollers[0].remind(name, "day-3", idem=str(uuid.uuid4())).ok(201)
        yield "2026-12-04T00:00:12Z"
        pollers[0].redeem(permit["permit_id"]).ok()
        pollers[0].report(permit["permit_id"], "sent").ok()
        asked = 0
        for minute in range(1, 1_440):
            wanted = {"kind": "reminder", "invoices": [name], "stage": "day-3"}
            if minute < 30 or minute >= 1_430:
                yield datetime(2026, 12, 4, tzinfo=UTC) + minute * _MINUTE
                key = str(uuid.uuid4())
                pollers[minute % 3].post("/v1/permits", wanted, key=key).no(409, "already_sent")
                asked += 1
            elif minute % 20 == 9:
                # Twenty pollers at once instead of one a minute: the same requests, sooner told.
                yield datetime(2026, 12, 4, tzinfo=UTC) + minute * _MINUTE
                answer = pollers[asked % 3].post("/v1/permits/batch", {"requests": [wanted] * 20})
                codes = [result["problem"]["code"] for result in answer.ok()["results"]]
                assert codes == ["already_sent"] * 20
                asked += 20
        assert asked == 1_439

    tell(story())
    customer = service.get(f"/v1/customers/{name}").ok()
    assert customer["windows"]["outreach_24h"]["used"] == 1
    assert customer["breaker"]["state"] == "closed"
    assert [a for a in service.get("/v1/alerts", limit=1000).ok()["items"] if name in str(a)] == []


POLLED: dict[str, Callable[[int], bool]] = {
    "daily": lambda day: True,
    "every other day": lambda day: day % 2 == 0,
    "first on day 10": lambda day: day == 10,
    "after days of downtime": lambda day: day <= 3 or day == 10,
}


@pytest.mark.starts("2026-06-20T00:00:00Z")
def test_ten_days_overdue_are_two_stages_however_polled(
    service: Service, tell: Callable[..., None], name: str
) -> None:
    """The kind of poller-every-minute: how often and by whom it is asked makes no difference."""

    def story(how: str, zone: str, currency: str, named: bool) -> Story:
        id_ = f"{name}-{how}-{currency}".replace(" ", "-")
        sender = service.client("send")
        fields: dict[str, Any] = {"customer_id": id_, "currency": currency, "time_zone": zone}
        service.put_invoice(id_, due_on="2026-06-20", **fields).ok()
        granted = []
        for day in range(1, 11):
            local = datetime(2026, 6, 20, 12, tzinfo=ZoneInfo(zone)) + day * _DAY
            yield local.astimezone(UTC)
            if not POLLED[how](day):
                continue
            for stage in ("day-3", "day-7", "day-14") if named else (None, None):
                answer = sender.remind(id_, stage, idem=str(uuid.uuid4()))
                if answer.status == 201:
                    sender.redeem(answer["permit_id"]).ok()
                    sender.report(answer["permit_id"], "sent").ok()
                    granted.append((day, answer["items"][0]["stage"]))
        states = service.stages(id_)
        assert [s for s, state in states.items() if state in ("sent", "superseded")] == [
            "day-3",
            "day-7",
        ]
        assert states["day-7"] == "sent"
        expected = {
            "daily": [(3, "day-3"), (7, "day-7")],
            "every other day": [(4, "day-3"), (8, "day-7")],
            "first on day 10": [(10, "day-7")],
            "after days of downtime": [(3, "day-3"), (10, "day-7")],
        }
        assert granted == expected[how]

    ways = (
        ("UTC", "USD", True),
        ("Pacific/Auckland", "JPY", False),
        ("America/Los_Angeles", "KWD", False),
    )
    tell(*[story(how, *way) for how in POLLED for way in ways])


TOLD: dict[str, Callable[[Client, str, str], Any]] = {
    "a snapshot": lambda teller, id_, due_on: teller.put_invoice(id_, due_on=due_on).ok(),
    "a fact": lambda teller, id_, due_on: teller.fact(
        "invoice.observed", _snapshot(id_) | {"invoice_id": id_, "due_on": due_on}
    ),
    "a riding fact": lambda teller, id_, due_on: teller.remind(
        id_, "day-14", facts={id_: _snapshot(id_) | {"due_on": due_on}}
    ),
}


def _snapshot(id_: str) -> dict[str, Any]:
    amounts = {"total": 40_000, "amount_remaining": 40_000}
    return amounts | {"customer_id": f"cus-{id_}", "currency": "EUR", "status": "open"}


@pytest.mark.starts("2026-05-24T00:00:00Z")
def test_due_date_moved(service: Service, tell: Callable[..., None], name: str) -> None:
    def story(how: str, moved_to: str) -> Story:
        id_ = f"{name}-{how}-{moved_to}".replace(" ", "-")
        sender = service.client("send", "facts")
        service.put_invoice(id_, **_snapshot(id_), due_on="2026-05-24").ok()
        yield "2026-05-27T08:00:00Z"
        sender.send("reminder", invoices=[id_], stage="day-3")
        yield "2026-05-28T10:00:00Z"
        TOLD[how](sender, id_, moved_to)
        yield "2026-05-31T08:00:00Z"
        if moved_to == "2026-06-15":
            sender.remind(id_, "day-7").no(409, "not_past_due")
            yield "2026-06-18T08:00:00Z"
            permit = sender.remind(id_, "day-3").ok(201)
            assert permit["items"][0]["cycle"] == 2
            sender.remind(id_, "day-3").no(409, "permit_held")
        else:
            # A correction that leaves it past due resets nothing: five days past due on the 31st.
            sender.remind(id_, "day-3").no(409, "already_sent")
            sender.remind(id_, "day-7").no(409, "not_reached")
            yield "2026-06-02T08:00:00Z"
            permit = sender.remind(id_, "day-7").ok(201)
            assert permit["items"][0]["cycle"] == 1

    tell(*[story(how, to) for how in TOLD for to in ("2026-06-15", "2026-05-26")])
