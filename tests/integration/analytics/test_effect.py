"""The effect report of a history made by hand, with the answers known beforehand."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from psycopg import AsyncConnection

from api.cli.main import main
from api.effects.forms import effect_html, effect_json, effect_markdown
from ledger.application.caller import SYSTEM
from ledger.application.commands import ApplyFact, Command, Redeem, ReportOutcome
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact
from ledger.domain.policy import Policy
from ledger.store.migrate import migrate
from projections.effect import Effect, End, MailsADay, Prevented, curves_of, effect_of
from projections.schema import prepare
from tests.integration.analytics.conftest import caught_up
from tests.integration.store.engines import ask, codes, engine_on, set_clock
from tests.support import build
from tests.support.postgres import fresh_database

MONDAY = datetime(2026, 11, 2, 12, tzinfo=UTC)
END = MONDAY + timedelta(days=10)


def told(*facts: Any) -> list[Command]:
    return [ApplyFact(Fact(fact), SYSTEM) for fact in facts]


async def happened(engine: Engine, commands: list[Command]) -> list[str]:
    """What each command gave, in its turn; each must be answered."""
    return codes([await engine.submit(command) for command in commands])


async def remind(engine: Engine, *invoices: str) -> None:
    """A reminder of each is granted, redeemed and sent."""
    for name in invoices:
        granted = await engine.submit(ask(name))
        assert granted.status == 201, granted.body
        permit = granted.permit_id or ""
        redeemed = Redeem(
            permit, None, SYSTEM, "00000000-0000-0000-0000-" + name[4:].zfill(12), b"{}"
        )
        assert (await engine.submit(redeemed)).status == 200
        assert (await engine.submit(ReportOutcome(permit, "sent", SYSTEM))).status == 200


async def story(database: str) -> None:
    """Six invoices of six customers, due on 30 October; of inv_5 three days later.

    Monday: 1 to 4 are reminded of, 1 is asked for twice more, 5 is too early, 6 is on hold.
    Wednesday: 1 is paid. Friday: 5 is reminded of. Saturday: 2 is paid.
    """

    async def at(day: int, work: Callable[[Engine], Awaitable[None]]) -> None:
        set_clock(database, MONDAY + timedelta(days=day))
        async with engine_on(database) as engine:
            await work(engine)

    async def monday(engine: Engine) -> None:
        invoices = [
            build.invoice(f"inv_{n}", f"cus_{n}", due="2026-11-02" if n == 5 else "2026-10-30")
            for n in range(1, 7)
        ]
        assert "granted" not in await happened(engine, told(*invoices, build.hold("x", "inv_6")))
        await remind(engine, "inv_1", "inv_2", "inv_3", "inv_4")
        no = await happened(engine, [ask("inv_1", stage="day-3"), ask("inv_1", stage="day-3")])
        assert no == ["already_sent", "already_sent"]
        no = await happened(engine, [ask("inv_5", stage="day-3"), ask("inv_6", stage="day-3")])
        assert no == ["not_reached", "on_hold"] or no == ["not_past_due", "on_hold"]

    async def wednesday(engine: Engine) -> None:
        await happened(engine, told(build.paid(30_000, "inv_1", "pay_1")))

    async def friday(engine: Engine) -> None:
        await remind(engine, "inv_5")

    async def saturday(engine: Engine) -> None:
        await happened(engine, told(build.paid(30_000, "inv_2", "pay_2")))

    for day, work in ((0, monday), (2, wednesday), (4, friday), (5, saturday)):
        await at(day, work)
    set_clock(database, END)
    await caught_up(database)


async def report(database: str, from_: datetime, to: datetime) -> Effect:
    async with await AsyncConnection.connect(
        database, autocommit=True, options="-c timezone=UTC"
    ) as connection:
        return await effect_of(connection, from_, to)


@pytest.fixture(scope="module")
def told_database(postgres: str) -> Iterator[str]:
    """The ledger after the story; tests only read it."""
    with fresh_database(postgres) as database:
        migrate(database)
        asyncio.run(prepare(database, Policy()))
        asyncio.run(story(database))
        yield database


@pytest.fixture(scope="module")
def effect(told_database: str) -> Effect:
    """The report of the whole story."""
    ahead = datetime(2027, 1, 1, tzinfo=UTC)
    return asyncio.run(report(told_database, MONDAY - timedelta(days=1), ahead))


def test_the_figures_are_those_that_were_made(effect: Effect) -> None:
    monday = MONDAY.date()
    assert (effect.to, effect.generated_at) == (END, END)
    assert effect.prevented == (Prevented(monday, "system", "already_sent", 2),)
    assert effect.mails == (MailsADay(1, 5),)
    (curve,) = effect.curves
    points = [(p.days, p.at_risk, p.paid, p.censored, round(p.unpaid, 4)) for p in curve.points]
    # Of five 1 is paid on day 2 and 1 on day 5; inv_5 is looked at for 6 days, 2 for 10.
    assert points == [
        (2, 5, 1, 0, 0.8),
        (5, 4, 1, 0, 0.6),
        (6, 3, 0, 1, 0.6),
        (10, 2, 0, 2, 0.6),
    ]
    assert (curve.stage, curve.reminders, curve.median_days) == ("day-3", 5, None)
    assert effect.ends == (
        End("day-3", "open", "USD", 3, 90_000),
        End("day-3", "paid", "USD", 2, 0),
    )
    assert {(c.code == "on_hold", c.sends, c.never_sent) for c in effect.caution} == {
        (True, 1, 1),
        (False, 1, 0),
    }


def test_what_lies_before_and_after_is_left_out(told_database: str) -> None:
    later = asyncio.run(report(told_database, MONDAY + timedelta(days=3), END))
    assert (later.prevented, later.caution, later.mails) == ((), (), (MailsADay(1, 1),))
    early = asyncio.run(
        report(told_database, MONDAY - timedelta(days=1), MONDAY + timedelta(days=4))
    )
    # The payment of the fifth day is not known yet: the four are looked at for four days.
    assert [(p.days, p.paid, p.censored) for p in early.curves[0].points] == [(2, 1, 0), (4, 0, 3)]


def test_a_curve_counts_payments_of_a_day_before_those_that_leave() -> None:
    (curve,) = curves_of(
        [("a", 0, True, 1), ("a", 1, True, 1), ("a", 1, False, 1), ("a", 3, True, 1)]
    )
    assert [(p.at_risk, round(p.unpaid, 4)) for p in curve.points] == [
        (4, 0.75),
        (3, 0.5),
        (1, 0.0),
    ]
    assert curve.median_days == 1
    assert curves_of([]) == ()


def test_each_form_has_every_figure(effect: Effect) -> None:
    text = effect_markdown(effect)
    assert "| 2026-11-02 | system | already_sent | 2 |" in text
    assert "| day-3 | 7 | 2 | 2 | 60.0% |" in text
    assert "| day-3 | open | 3 | 900.00 USD |" in text
    assert "| on_hold | 1 | 1 |" in text
    page = effect_html(effect)
    assert page.count("<svg") == 2
    assert "<td>60.0%</td>" in page
    assert "<script" not in page
    said = json.loads(effect_json(effect))
    assert said["ends"][0] == {
        "stage": "day-3",
        "status": "open",
        "currency": "USD",
        "invoices": 3,
        "balance_minor_units": 90_000,
    }
    assert said["curves"][0]["points"][1]["unpaid"] == pytest.approx(0.6)


def test_names_are_escaped(effect: Effect) -> None:
    bad = Effect(
        **{name: getattr(effect, name) for name in effect.__slots__}
        | {"prevented": (Prevented(MONDAY.date(), "<b>|x", "already_sent", 1),)},
    )
    assert "<b>" not in effect_html(bad)
    assert "<b>\\|x" in effect_markdown(bad)


def test_a_ledger_without_a_mail_has_a_report(database: str) -> None:
    asyncio.run(prepare(database, Policy()))
    empty = asyncio.run(report(database, MONDAY, datetime.now(UTC)))
    assert (empty.prevented, empty.mails, empty.curves, empty.ends, empty.caution) == ((),) * 5
    assert effect_markdown(empty).count("Nothing in this time.") == 5
    assert effect_html(empty).count("Nothing in this time.") == 5


def test_the_command_writes_it(told_database: str, effect: Effect, tmp_path: Path) -> None:
    env = {
        "LEDGER_DATABASE_URL": told_database,
        "LEDGER_DATA_DIR": str(tmp_path),
        "LEDGER_SECRET": "0123456789abcdef0123456789abcdef",
        "LEDGER_CONFIG": "",
    }

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(main, ("report", "effect", *arguments), env=env)

    begin = ("--from", "2026-11-01T12:00:00Z")
    assert run(*begin).output == effect_markdown(effect)
    target = tmp_path / "report.html"
    assert run(*begin, "--format", "html", "--output", str(target)).exit_code == 0
    assert target.read_text() == effect_html(effect)
    assert run(*begin, "--to", "2026-11-01T00:00:00Z").exit_code == 2
