"""The SQL of the list of what is due says what the rules in Python say, whatever has happened.

Histories are decided by the real engine; its log is folded by the projector's statements, cut into
ranges at random; the list is then compared with the guards, invoice by invoice and customer by
customer, as the clock goes on.
"""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from psycopg import AsyncConnection

from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.customer import Customer
from ledger.domain.guards import Case, judge_customer, judge_subject
from ledger.domain.invoice import Invoice
from ledger.domain.permit import Lane
from ledger.domain.policy import Policy
from ledger.domain.subjects import InvoiceStage
from ledger.store.migrate import migrate
from projections.due import due
from projections.generations import Generation, add_generation, apply_range, keep_policy
from projections.invoices import INVOICES
from projections.models import MODELS
from projections.schema import prepare_on
from projections.statements import composed, one
from tests.support import build
from tests.support.dunning_histories import START, histories, play, policies, sweep
from tests.support.given import Scenario
from tests.support.log_copy import copy_log
from tests.support.postgres import fresh_database

RUNNER = asyncio.Runner()
MOMENT = timedelta(microseconds=1)
EXAMPLES = 3_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 150

SENT_BEFORE = build.observed_send("2026-10-13T08:00:00Z", "cus_1", "inv_1", "day-7")
"""Its day-3 is superseded when the ledger hears of it, which is no reminder: day-14 is due."""


@dataclass
class Listed:
    """A customer in the list: why they cannot be mailed, and their invoices by id."""

    email: str | None
    withheld: tuple[str, datetime | None] | None
    invoices: dict[str, dict[str, Any]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def connection(postgres: str) -> Iterator[AsyncConnection[Any]]:
    """A connection to a database of this module's own; each example rolls back what it does."""
    with fresh_database(postgres) as conninfo:
        migrate(conninfo)
        opened = RUNNER.run(connected(conninfo))
        yield opened
        RUNNER.run(opened.close())


async def connected(conninfo: str) -> AsyncConnection[Any]:
    """A connection to empty read models: generation 1 is the live one, 2 is there to compare."""
    connection = await AsyncConnection.connect(conninfo, options="-c timezone=UTC -c jit=off")
    await connection.execute("SELECT")
    await prepare_on(connection, Policy())
    for model in MODELS.values():
        await add_generation(connection, model, Policy())
    await connection.commit()
    return connection


@settings(max_examples=EXAMPLES)
@given(
    policy=policies(),
    history=histories,
    turns=st.integers(1, 3),
    cuts=st.lists(st.integers(1, 60), max_size=4),
    limit=st.integers(1, 3),
)
@example(
    policy=Policy(),
    history=[build.invoice(due="2026-10-06"), SENT_BEFORE],
    turns=1,
    cuts=[],
    limit=1,
)
def test_what_is_due_is_what_the_guards_let_pass(
    connection: AsyncConnection[Any],
    policy: Policy,
    history: list[Any],
    turns: int,
    cuts: list[int],
    limit: int,
) -> None:
    scenario = Scenario(policy, START)
    play(scenario, history)
    try:
        reader = Reader(connection, policy)
        RUNNER.run(reader.begin())
        listed = compare(scenario, reader, cuts)
        for _ in range(turns):
            turn = RUNNER.run(reader.next_turn(scenario, listed))
            if turn is None:
                break
            scenario.when(max(scenario.store.now, turn - MOMENT))
            compare(scenario, reader, cuts)
            scenario.when(turn)
            listed = compare(scenario, reader, cuts)
        RUNNER.run(reader.check_pages(scenario, listed, limit))
        scenario.when(timedelta(days=20))
        compare(scenario, reader, cuts)
        RUNNER.run(reader.check_cuts())
    finally:
        RUNNER.run(connection.rollback())


def compare(scenario: Scenario, reader: "Reader", cuts: list[int]) -> dict[str, Listed]:
    """The list as it is now: what SQL and the guards both say, before and after the sweeper."""
    RUNNER.run(reader.take_in(scenario, cuts))
    reasons = expected(scenario, swept=True)
    for customer_id, found in RUNNER.run(reader.listed(scenario)).items():
        if customer_id in reasons:
            assert found.withheld == reasons[customer_id].withheld
    sweep(scenario)
    RUNNER.run(reader.take_in(scenario, cuts))
    listed = RUNNER.run(reader.listed(scenario))
    withheld = [found.withheld[0] for found in listed.values() if found.withheld is not None]
    event(f"{len(listed)} due, {len(withheld)} withheld")
    for code in withheld:
        event(code)
    assert listed == expected(scenario)
    return listed


class Reader:
    """The read side of an example, in a transaction that is rolled back."""

    def __init__(self, connection: AsyncConnection[Any], policy: Policy) -> None:
        self.connection = connection
        self.policy = policy
        self.position = 0

    async def begin(self) -> None:
        """Open the transaction, and give the policy to both generations."""
        for generation in (Generation(INVOICES, 1), Generation(INVOICES, 2)):
            await one(self.connection, "control", "enter", **generation.key)
            await self.connection.execute("DELETE FROM policy")
            await keep_policy(self.connection, generation, self.policy)

    async def take_in(self, scenario: Scenario, cuts: list[int]) -> None:
        """Fold what is new in the log, in ranges of these sizes and a last one of the rest."""
        head = await copy_log(self.connection, scenario.store, self.position)
        sizes = iter(cuts)
        while self.position < head:
            upto = min(head, self.position + next(sizes, head))
            for model in MODELS.values():
                await apply_range(self.connection, Generation(model, 1), self.position, upto)
            self.position = upto

    async def next_turn(self, scenario: Scenario, listed: dict[str, Listed]) -> datetime | None:
        """The next moment at which SQL would list another invoice, or withhold somebody no more."""
        await one(self.connection, "control", "enter", **Generation(INVOICES, 1).key)
        cursor = await self.connection.execute("SELECT due_at FROM invoices")
        turns = [row[0] for row in await cursor.fetchall()]
        turns += [found.withheld[1] for found in listed.values() if found.withheld]
        now = scenario.store.now
        return min((turn for turn in turns if turn is not None and turn > now), default=None)

    async def listed(self, scenario: Scenario, **how: Any) -> dict[str, Listed]:
        """The whole list as it is now."""
        page = await due(
            self.connection, now=scenario.store.now, policy=self.policy, limit=1000, **how
        )
        assert page.as_of == self.position
        assert page.next is None
        return {
            item.customer_id: Listed(
                item.email,
                (item.withheld.code, item.withheld.available_at) if item.withheld else None,
                {invoice["invoice_id"]: invoice for invoice in item.invoices},
            )
            for item in page.items
        }

    async def check_pages(self, scenario: Scenario, listed: dict[str, Listed], limit: int) -> None:
        """Page by page it is the same list in the same order, and so are its filtered forms."""
        ids: list[str] = []
        cursor = None
        while True:
            page = await due(
                self.connection,
                now=scenario.store.now,
                policy=self.policy,
                limit=limit,
                cursor=cursor,
            )
            ids.extend(item.customer_id for item in page.items)
            cursor = page.next
            if cursor is None:
                break
            assert len(page.items) == limit
        assert ids == list(listed)
        ready = await self.listed(scenario, ready=True)
        assert ready == {c: found for c, found in listed.items() if found.withheld is None}
        for stage in self.policy.stages:
            some = await self.listed(scenario, stage=stage.name)
            for customer_id, found in listed.items():
                of_stage = {n: i for n, i in found.invoices.items() if i["stage"] == stage.name}
                here = some.pop(customer_id, None)
                assert (here.invoices if here else {}) == of_stage
            assert some == {}

    async def check_cuts(self) -> None:
        """Taken in at one go the log leaves the same rows."""
        for model in MODELS.values():
            live, fresh = Generation(model, 1), Generation(model, 2)
            await apply_range(self.connection, fresh, 0, self.position)
            for table in model.tables:
                compared = composed(
                    "control", "compare", live=live.schema, fresh=fresh.schema, table=table
                )
                rows = await self.connection.execute(compared, {"most": 5})
                assert await rows.fetchall() == []


def expected(scenario: Scenario, swept: bool = False) -> dict[str, Listed]:
    """What the guards say of each invoice and its customer, with the facts as they stand.

    `swept` looks at the customers as they will be once lapses are recorded.
    """
    now, policy = scenario.store.now, scenario.policy
    aggregates = scenario.store.replay()
    customers = {a.customer_id: a for a in aggregates.values() if isinstance(a, Customer)}
    control = aggregates[CONTROL_ID]
    assert isinstance(control, Control)
    found: dict[str, Listed] = {}
    for invoice in aggregates.values():
        if not isinstance(invoice, Invoice) or invoice.snapshot is None:
            continue
        customer = customers[invoice.customer_id]
        while customer.merged_into is not None:
            customer = customers[customer.merged_into]
        if swept:
            settle_lapsed(customer, now)
        address = customer.addresses[0] if customer.addresses else None
        case = Case(
            "reminder", Lane.OUTREACH, "any", now, policy, control, customer, address=address
        )
        subject = InvoiceStage(invoice, None, now, policy)
        if judge_subject(case, subject) is not None:
            continue
        denial = judge_customer(case)
        listed = found.setdefault(
            customer.customer_id,
            Listed(
                email_of(scenario, address),
                (denial.code, denial.available_at) if denial else None,
            ),
        )
        listed.invoices[invoice.invoice_id] = {
            "invoice_id": invoice.invoice_id,
            "cycle": invoice.standing.cycle,
            "stage": subject.due().stage.name,
            "days_past_due": invoice.days_past_due(now, policy.time_zone),
            "amount_remaining": invoice.standing.balance,
            "currency": invoice.snapshot.currency,
        }
    return found


def settle_lapsed(customer: Customer, now: datetime) -> None:
    """Let the permits of a replayed customer lapse."""
    for permit in list(customer.permits.values()):
        state = permit.lapsed_state(now)
        if state is not None:
            customer.permits[permit.permit_id] = permit.settled(state, now)


def email_of(scenario: Scenario, fingerprint: str | None) -> str | None:
    """The address that a fingerprint stands for."""
    known = {fp: address for (fp, _), address in scenario.store.contacts.items()}
    return known.get(fingerprint or "")
