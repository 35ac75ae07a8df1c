"""The read model of customers: open breakers, merges, and no trace of the guard check's probes."""

import dataclasses

from projections.customers import open_breakers
from tests.support import build
from tests.support.given import given
from tests.support.read_side import ReadSide, with_read_side

SYSTEM = dataclasses.replace(build.OPERATOR, key_id="system")


def test_open_breakers_are_those_of_customers_who_are_still_there(database: str) -> None:
    scenario = given(
        build.customer("cus_0"),
        *(
            build.notification(f"{n}", customer=f"cus_{c}", by=build.AGENT)
            for c in (1, 2, 3)
            for n in range(3)
        ),
        build.merged("cus_3", "cus_0"),
    )
    assert scenario.event("Customer.BreakerOpened").scope == "outreach"

    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()
        assert await open_breakers(side.connection) == ["cus_0", "cus_1", "cus_2"]

    with_read_side(database, scenario, steps)


def test_probes_of_the_guard_check_are_in_no_table(database: str) -> None:
    probe = "ledger-probe-1"
    scenario = given(
        build.invoice("inv_1", probe, due="2025-12-20", email="probe@example.com"),
        build.reminder("inv_1", by=SYSTEM),
        build.hold(invoice_id="inv_1"),
        build.notification("a", customer=probe, by=SYSTEM),
        build.notification("b", customer=probe, by=SYSTEM),
        build.notification("c", customer=probe, by=SYSTEM),
        build.customer("cus_1", "pat@example.com"),
    )
    assert "Customer.BreakerOpened" in {
        row.topic.removeprefix("ledger:") for row in scenario.store.rows
    }

    async def steps(side: ReadSide) -> None:
        for upto in range(1, len(side.scenario.store.rows) + 1):
            await side.append(upto)
            await side.catch_up()
        tables = ("invoices_1.invoices", "customers_1.customers", "customers_1.mails")
        found = [await side.rows(f"SELECT count(*) FROM projection_{table}") for table in tables]
        assert found == [[(0,)], [(1,)], [(0,)]]
        assert await open_breakers(side.connection) == []
        assert (await side.due()).items == []

    with_read_side(database, scenario, steps)


def test_of_many_subscriptions_those_of_the_oldest_word_are_forgotten_as_in_the_domain(
    database: str,
) -> None:
    told = [
        build.subscription_told(f"sub_{n}", when=f"2025-12-{1 + n % 28:02}") for n in range(205)
    ]
    scenario = given(*told, build.subscription_told("sub_204", when="2025-11-01"))
    scenario.then(result="stale")
    known = scenario.aggregate("customer", "cus_1").subscriptions.known
    assert len(known) == 200

    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()
        found = await side.rows(
            "SELECT s.key, (s.value ->> 'at')::timestamptz"
            " FROM projection_customers_1.customers, jsonb_each(subscriptions) s"
        )
        assert dict(found) == {one.subscription_id: one.at for one in known.values()}

    with_read_side(database, scenario, steps)


def test_who_has_subscriptions_that_have_all_ended(database: str) -> None:
    scenario = given(
        build.subscription_told("sub_1", when="2025-12-01"),
        build.subscription_told("sub_2", when="2026-01-01T00:04:00Z"),
        build.subscription_told("sub_3", when="2025-12-01"),
        build.subscription_told("sub_3", ended=False, when="2025-12-02"),
    )

    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()

        async def over(*ids: str, customer: str = "cus_1") -> bool:
            [(found,)] = await side.rows(
                "SELECT projection_customers_1.subscriptions_ended(%s, %s, '2026-01-01Z')",
                customer,
                list(ids),
            )
            return bool(found)

        await side.rows("SET search_path TO projection_customers_1, public")
        assert await over("sub_1")
        assert not await over("sub_1", "sub_2")
        assert not await over("sub_1", "sub_3")
        assert not await over("sub_1", "sub_nobody_knows")
        assert not await over("sub_1", customer="cus_2")
        assert not await over()

    with_read_side(database, scenario, steps)
