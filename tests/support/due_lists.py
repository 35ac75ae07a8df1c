"""Computes the due list twice: by SQL from a log, and by the guards in Python."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from ledger.domain.balance import Status
from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.customer import Customer
from ledger.domain.guards import Case, judge_customer, judge_subject
from ledger.domain.identity import aggregate_id
from ledger.domain.invoice import Invoice
from ledger.domain.mailbox import Mailbox
from ledger.domain.permit import Lane
from ledger.domain.policy import Policy
from ledger.domain.subjects import InvoiceStage
from projections.due import due
from projections.due import ready as ready_customers
from projections.generations import Generation, add_generation, apply_range, keep_policy
from projections.invoices import INVOICES
from projections.models import MODELS
from projections.schema import prepare_on
from projections.statements import composed, one
from tests.support.dunning_histories import sweep
from tests.support.given import Scenario
from tests.support.log_copy import copy_log

RUNNER = asyncio.Runner()
MOMENT = timedelta(microseconds=1)


@dataclass
class Listed:
    """A customer in the list: why they cannot be mailed, and their invoices by id."""

    email: str | None
    withheld: tuple[str, datetime | None] | None
    invoices: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def stages(self) -> dict[str, str]:
        """The stage due of each invoice."""
        return {name: invoice["stage"] for name, invoice in self.invoices.items()}


async def connected(conninfo: str) -> AsyncConnection[Any]:
    """A connection to empty read models: generation 1 is the live one, 2 is there to compare."""
    connection = await AsyncConnection.connect(conninfo, options="-c timezone=UTC -c jit=off")
    await connection.execute("SELECT")
    await prepare_on(connection, Policy())
    for model in MODELS.values():
        await add_generation(connection, model, Policy())
    await connection.commit()
    return connection


def follow(
    connection: AsyncConnection[Any], scenario: Scenario, turns: int, cuts: list[int], limit: int
) -> list[dict[str, Listed]]:
    """Compare the lists now, at the next moments at which something turns, and much later.

    Answers the lists, the first one for now. The log is taken in by ranges of the sizes `cuts`,
    and pages of `limit` customers are looked at once. Nothing of it stays.
    """
    try:
        reader = Reader(connection, scenario.policy)
        RUNNER.run(reader.begin())
        lists = [compare(scenario, reader, cuts)]
        for _ in range(turns):
            turn = RUNNER.run(reader.next_turn(scenario, lists[-1]))
            if turn is None:
                break
            scenario.when(max(scenario.store.now, turn - MOMENT))
            lists.append(compare(scenario, reader, cuts))
            scenario.when(turn)
            lists.append(compare(scenario, reader, cuts))
        RUNNER.run(reader.check_pages(scenario, lists[-1], limit))
        scenario.when(timedelta(days=20))
        lists.append(compare(scenario, reader, cuts))
        RUNNER.run(reader.check_cuts())
        return lists
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
        """The next time at which SQL would list another invoice or stop withholding a customer."""
        await one(self.connection, "control", "enter", **Generation(INVOICES, 1).key)
        cursor = await self.connection.execute("SELECT due_at, observed_at FROM invoices")
        rows = await cursor.fetchall()
        turns = [row[0] for row in rows]
        if self.policy.snapshot_max_age:
            age = timedelta(days=self.policy.snapshot_max_age)
            turns += [row[1] + age for row in rows if row[1] is not None]
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

    async def claimable(self, scenario: Scenario, passed_over: list[str]) -> dict[str, list[str]]:
        """The invoices of the customers that a claim would select."""
        page = await ready_customers(
            self.connection,
            now=scenario.store.now,
            policy=self.policy,
            limit=1000,
            passing_over=passed_over,
        )
        assert page.next is None
        return {customer.customer_id: list(customer.invoices) for customer in page.items}

    async def check_pages(self, scenario: Scenario, listed: dict[str, Listed], limit: int) -> None:
        """Assert that pages give the same list in the same order, also with filters."""
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
        passed_over = list(ready)[::2]
        claimable = await self.claimable(scenario, passed_over)
        assert claimable == {c: list(ready[c].invoices) for c in ready if c not in passed_over}
        assert list(claimable) == [c for c in ready if c not in passed_over]
        for stage in self.policy.stages:
            some = await self.listed(scenario, stage=stage.name)
            for customer_id, found in listed.items():
                of_stage = {n: i for n, i in found.invoices.items() if i["stage"] == stage.name}
                here = some.pop(customer_id, None)
                assert (here.invoices if here else {}) == of_stage
            assert some == {}

    async def check_cuts(self) -> None:
        """Assert that the log applied in one range gives the same rows."""
        for model in MODELS.values():
            live, fresh = Generation(model, 1), Generation(model, 2)
            await apply_range(self.connection, fresh, 0, self.position)
            for table in model.tables:
                compared = composed(
                    "control", "compare", live=live.schema, fresh=fresh.schema, table=table
                )
                rows = await self.connection.execute(compared, {"most": 5})
                differing = await rows.fetchall()
                assert differing == [], f"{model.name}.{table}: {differing}"


def expected(scenario: Scenario, swept: bool = False) -> dict[str, Listed]:
    """The guards' verdict on each invoice and its customer, with the current facts.

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
        customer = owner_of(customers, invoice)
        if swept:
            settle_lapsed(customer, now)
        address = customer.addresses[0] if customer.addresses else None
        mailbox = aggregates.get(aggregate_id("address", address)) if address else None
        assert mailbox is None or isinstance(mailbox, Mailbox)
        case = Case(
            "reminder",
            Lane.OUTREACH,
            "any",
            now,
            policy,
            control,
            customer,
            address=address,
            mailbox=mailbox,
            claim=True,
            dunning=True,
        )
        silent = control.silent_feeds
        over = None
        if not policy.remind_after_subscription_end:
            over = customer.subscriptions.ended(invoice.subscriptions, now)
        covered = customer.credit.available(invoice.snapshot.currency)
        open_ = open_of(aggregates, customers, customer, invoice.snapshot.currency)
        subject = InvoiceStage(
            invoice,
            "reminder",
            None,
            now,
            policy,
            covered=covered > 0 and open_ <= covered,
            silent_feeds=silent,
            ended=over,
        )
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


def owner_of(customers: dict[str, Customer], invoice: Invoice) -> Customer:
    """Who owes an invoice, after merges."""
    customer = customers[invoice.customer_id]
    while customer.merged_into is not None:
        customer = customers[customer.merged_into]
    return customer


def open_of(
    aggregates: dict[UUID, Any], customers: dict[str, Customer], customer: Customer, currency: str
) -> int:
    """What is open on the customer's invoices in a currency, in minor units."""
    return sum(
        invoice.standing.balance
        for invoice in aggregates.values()
        if isinstance(invoice, Invoice)
        and invoice.snapshot is not None
        and invoice.snapshot.currency == currency
        and invoice.standing.status is Status.OPEN
        and owner_of(customers, invoice) is customer
    )


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
