"""Cases about calendar days where clocks change, and about who is the same mailbox."""

import unicodedata
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.cases.timeline import Story
from tests.support.service import Answer, Client, Service

_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)


def _midnight(day: date, zone: str) -> datetime:
    return datetime.combine(day, time(0), ZoneInfo(zone)).astimezone(UTC)


def _third_day(service: Service, name: str, zone: str, due_on: date) -> Story:
    """Asks a second before local midnight, at midnight, and through the day that changes."""
    id_ = f"{name}-{zone}-{due_on}".replace("/", "-")
    sender = service.client("send")
    service.put_invoice(id_, customer_id=id_, due_on=due_on.isoformat(), time_zone=zone).ok()
    midnight = _midnight(due_on + 3 * _DAY, zone)
    yield midnight - _SECOND
    problem = sender.remind(id_, "day-3").no(409, "not_reached")
    assert problem["available_at"] == midnight.isoformat().replace("+00:00", "Z")
    assert service.get(f"/v1/invoices/{id_}").ok()["days_past_due"] == 2
    yield midnight
    assert service.get(f"/v1/invoices/{id_}").ok()["days_past_due"] == 3
    permit = sender.remind(id_, "day-3").ok(201)["permit_id"]
    sender.redeem(permit).ok()
    sender.report(permit, "sent").ok()
    yield midnight + timedelta(hours=1)
    sender.remind(id_, "day-3").no(409, "already_sent")
    yield _midnight(due_on + 4 * _DAY, zone) - _SECOND
    assert service.get(f"/v1/invoices/{id_}").ok()["days_past_due"] == 3
    sender.remind(id_, "day-3").no(409, "already_sent")


SPRING = ("Europe/Berlin", "Europe/London", "UTC", "Asia/Tokyo")
AUTUMN = ("Europe/Berlin", "America/New_York", "Pacific/Auckland", "UTC")


@pytest.mark.starts("2026-03-26T00:00:00Z")
def test_dst_short_day(service: Service, tell: Callable[..., None], name: str) -> None:
    def story() -> Story:
        id_ = f"{name}-case"
        sender = service.client("send")
        fields: dict[str, Any] = {"customer_id": id_, "currency": "EUR", "total": 12_000}
        service.put_invoice(id_, **fields, due_on="2026-03-27", time_zone="Europe/Berlin").ok()
        yield "2026-03-29T22:30:00Z"
        sender.remind(id_, "day-3").ok(201)

    days = (date(2026, 3, 26), date(2026, 3, 27))
    tell(story(), *[_third_day(service, name, zone, day) for zone in SPRING for day in days])


@pytest.mark.starts("2026-10-22T00:00:00Z")
def test_dst_long_day(service: Service, tell: Callable[..., None], name: str) -> None:
    """The kind of dst-short-day in autumn: a job at 02:30 local time runs twice on the 25th."""

    def story(missed: bool) -> Story:
        id_ = f"{name}-job-{missed}"
        sender = service.client("send")
        fields: dict[str, Any] = {
            "customer_id": id_,
            "due_on": "2026-10-22",
            "time_zone": "Europe/Berlin",
        }
        service.put_invoice(id_, **fields).ok()
        zone = ZoneInfo("Europe/Berlin")
        runs = [datetime(2026, 10, 25, 2, 30, fold=fold, tzinfo=zone) for fold in (0, 1)]
        assert runs[1].astimezone(UTC) - runs[0].astimezone(UTC) == timedelta(hours=1)
        for number, run in enumerate(runs if not missed else []):
            yield run.astimezone(UTC)
            answer = sender.remind(id_, "day-3")
            if number == 0:
                permit = answer.ok(201)["permit_id"]
                sender.redeem(permit).ok()
                sender.report(permit, "sent").ok()
            else:
                answer.no(409, "already_sent")
        yield datetime(2026, 10, 26, 2, 30, tzinfo=zone).astimezone(UTC)
        answer = sender.remind(id_, "day-3")
        answer.ok(201) if missed else answer.no(409, "already_sent")

    days = (date(2026, 10, 22), date(2026, 10, 23), date(2026, 10, 29))
    tell(
        story(False),
        story(True),
        *[_third_day(service, name, zone, day) for zone in AUTUMN for day in days],
    )


def _to(client: Client, address: str, event: str) -> Answer:
    return client.ask("notification", to=address, event_type="t", event_id=event)


@pytest.mark.starts("2026-08-12T08:00:00Z")
def test_case_and_unicode_twins(service: Service, tell: Callable[..., None], name: str) -> None:
    composed, decomposed = "\u00fc", "u\u0308"
    assert unicodedata.normalize("NFC", decomposed) == composed

    def story(variant: str, others: list[str]) -> Story:
        local = f"billing.{name}.{variant}"
        domain = "m\u00fcller.example"
        spell = [
            other.format(local=local, LOCAL=local.upper(), Local=local.title()) for other in others
        ]
        first = f"{local}@{domain}"
        senders = [service.client("send") for _ in range(3)]
        for moment, number in (("09:00", 1), ("09:10", 2)):
            yield f"2026-08-12T{moment}:00Z"
            permit = _to(senders[number], first, str(number)).ok(201)
            assert permit["to"] == first
            senders[number].redeem(permit["permit_id"]).ok()
            senders[number].report(permit["permit_id"], "sent").ok()
        customer = permit["customer_id"]
        yield "2026-08-12T09:20:00Z"
        _to(senders[0], spell[0], "3").no(429, "cap_reached")
        assert service.breaker(customer) == "open"
        yield "2026-08-12T09:21:00Z"
        _to(senders[1], spell[1], "4").no(409, "breaker_open")
        yield "2026-08-12T09:22:00Z"
        _to(senders[2], spell[2], "5").no(409, "breaker_open")
        assert len(service.alerts("breaker_opened", customer)) == 1

    spellings = [
        "{Local}@M\u00dcLLER.example",
        "{local}@mu\u0308ller.example",
        "{local}@xn--mller-kva.example",
    ]
    orders = [spellings, spellings[::-1], [spellings[1], spellings[2], spellings[0]]]
    orders.append(["{LOCAL}@XN--MLLER-KVA.EXAMPLE", "{local}@M\u00fcLLER.Example", spellings[0]])
    tell(*[story(str(number), order) for number, order in enumerate(orders)])


@pytest.mark.starts("2026-04-02T07:00:00Z")
def test_plus_tag_and_dots(service: Service, tell: Callable[..., None], name: str) -> None:
    def story() -> Story:
        dunning = service.client("send")
        addresses = {
            "29a": f"ops.{name}@mail.example",
            "29b": f"ops.{name}+invoices@mail.example",
            "29b2": f"o.ps.{name}@mail.example",
        }
        for customer, address in addresses.items():
            service.put_invoice(
                f"{name}-{customer}",
                customer_id=f"{name}-{customer}",
                email=address,
                due_on="2026-03-30",
            ).ok()
        for moment in ("08:00", "08:30"):
            yield f"2026-04-02T{moment}:00Z"
            dunning.send("notification", customer_id=f"{name}-29a", event_type="t", event_id=moment)
        yield "2026-04-02T09:00:00Z"
        assert dunning.remind(f"{name}-29b", "day-3").ok(201)["to"] == addresses["29b"]
        yield "2026-04-02T09:01:00Z"
        assert dunning.remind(f"{name}-29b2", "day-3").ok(201)["to"] == addresses["29b2"]
        assert _to(dunning, addresses["29a"].upper(), "x").code == "cap_reached"

    def by_address_alone() -> Story:
        sender = service.client("send")
        yield "2026-04-02T08:00:00Z"
        spellings = (
            f"a.b{name}@mail.example",
            f"ab{name}@mail.example",
            f"a.b{name}+x@mail.example",
        )
        for address in spellings:
            for number in range(2):
                sender.send("notification", to=address, event_type="t", event_id=str(number))
        for address in spellings:
            _to(sender, address, "3").no(429, "cap_reached")

    tell(story(), by_address_alone())
