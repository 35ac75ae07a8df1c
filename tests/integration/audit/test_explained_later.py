"""A decision explained a month of policy changes later gives the answer of then."""

import asyncio
import json
from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

from api.explanations.explanation import Explanation, explain, settings_changed_since
from ledger.application.answers import Answer
from ledger.application.caller import SYSTEM
from ledger.application.commands import ApplyFact, ReportOutcome
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact
from ledger.application.facts.invoice_payment import PaymentMoved
from ledger.domain.payments import PaymentState
from ledger.domain.policy import DEFAULT_STAGES, Policy, Stage, parse_policy, policy_of
from ledger.store.looking_back.journal import get_decision
from ledger.store.setup import prepare_ledger
from tests.integration.store.engines import (
    IDENTITY,
    NOON,
    ask,
    body,
    codes,
    engine_on,
    invoice,
    set_clock,
)

THEN = Policy()
LATER = Policy(
    time_zone="Pacific/Auckland",
    stages=(Stage("gentle", 1), Stage("day-3", 20), Stage("last", 40, 90)),
    days_between_reminders=30,
    outreach_per_day=50,
    adopt_before=NOON.date() + timedelta(days=20),
    smallest_amount_to_dun={"USD": 100_000},
    permit_minutes=1,
)


async def explained(database: str, answer: Answer) -> tuple[dict[str, Any], Explanation]:
    async with await AsyncConnection.connect(
        database, autocommit=True, options="-c timezone=UTC"
    ) as connection:
        row = await get_decision(connection, body(answer)["decision_id"])
        assert row is not None
        found = await explain(connection, IDENTITY, row)
    assert found is not None
    assert found.reproduced
    return row, found


def denied_by(found: Explanation) -> list[tuple[str, str | None, str | None]]:
    return [(g.guard, g.code, g.detail) for g in found.guards if g.verdict == "denied"]


async def use_policy(database: str, policy: Policy) -> None:
    await asyncio.to_thread(prepare_ledger, database, IDENTITY.secret, policy, None)


async def decide_then(engine: Engine) -> list[Answer]:
    """Two mails to one customer, a third that is one too many, a stage that is not reached."""
    due = NOON - timedelta(days=4)
    await engine.submit_all([invoice(f"i{n}", "pat", due=due) for n in range(3)])
    await engine.submit(invoice("young", "kim", due=NOON - timedelta(days=1)))
    answers = [await engine.submit(ask(f"i{n}")) for n in range(3)]
    answers.append(await engine.submit(ask("young")))
    assert codes(answers) == ["granted", "granted", "cap_reached", "not_reached"]
    return answers


async def change_everything(engine: Engine) -> None:
    """What was sent is settled, what was owed is paid, and new mail goes out by other rules."""
    for n in range(3):
        paid = PaymentMoved(f"i{n}", f"p{n}", 30_000, PaymentState.SUCCEEDED)
        await engine.submit(ApplyFact(Fact(paid), SYSTEM))
    for n in range(70):
        name = f"later{n}"
        await engine.submit(invoice(name, "pat", due=NOON, remaining=30_000))
    await engine.submit_all([ask(f"later{n}") for n in range(70)])


def test_a_decision_is_explained_by_the_policy_and_the_facts_of_then(database: str) -> None:
    set_clock(database, NOON)

    async def scenario() -> None:
        await use_policy(database, THEN)
        async with engine_on(database, policy=THEN) as engine:
            answers = await decide_then(engine)
            await engine.submit(ReportOutcome(answers[0].permit_id or "", "sent", SYSTEM))
        set_clock(database, NOON + timedelta(days=31))
        await use_policy(database, LATER)
        async with engine_on(database, policy=LATER) as engine:
            await change_everything(engine)

        row, granted = await explained(database, answers[0])
        assert policy_of(json.dumps(row["policy_text"])) == THEN
        assert denied_by(granted) == []
        assert granted.state["invoices"][0]["amount_remaining"] == 30_000
        assert [s["stage"] for s in granted.state["invoices"][0]["stages"]] == [
            stage.name for stage in DEFAULT_STAGES
        ]
        assert granted.state["customer"]["windows"]["outreach_24h"]["used"] == 0

        row, capped = await explained(database, answers[2])
        assert denied_by(capped) == [
            (
                "cap",
                "cap_reached",
                "customer pat has had 2 of 2 mails in the window outreach_24h",
            )
        ]
        assert body(answers[2])["detail"] == denied_by(capped)[0][2]
        assert capped.state["customer"]["breaker"]["state"] == "closed"

        row, young = await explained(database, answers[3])
        assert [found[:2] for found in denied_by(young)] == [("outside_facts", "not_reached")]
        assert young.state["invoices"][0]["days_past_due"] == 1

    asyncio.run(scenario())


def test_every_policy_is_read_back_from_its_text() -> None:
    for policy in (THEN, LATER, parse_policy({"catch_up": "next", "apology_days": 3})):
        assert policy_of(policy.text()) == policy
        assert policy_of(policy.text()).version() == policy.version()


def test_a_setting_of_another_time_is_no_obstacle() -> None:
    text = THEN.text()
    older = text.replace('"outreach_per_day":2,', "")
    newer = text.replace('"outreach_per_day":2,', '"outreach_per_day":2,"of_a_later_version":1,')
    assert older != text != newer
    assert policy_of(older) == policy_of(newer) == THEN


def test_what_changed_since_is_told() -> None:
    changed = settings_changed_since(THEN, Policy(outreach_per_day=3))
    assert changed == {"outreach_per_day": (2, 3)}
