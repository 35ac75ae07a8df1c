"""The comparison with a fresh rebuild: silent where all is well, it names whatever differs."""

import pytest

from ledger.domain.policy import Policy, Stage
from projections.comparison import differences
from tests.support.read_side import ReadSide, story, with_read_side


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (
            "UPDATE projection_invoices_1.invoices SET due_at = due_at + interval '1 second'"
            " WHERE invoice_id = 'inv_7a'",
            [
                ("invoices.invoices, only live", "inv_7a"),
                ("invoices.invoices, only rebuilt", "inv_7a"),
            ],
        ),
        (
            "DELETE FROM projection_customers_1.mails WHERE owner_id = 'cus_8'",
            [("customers.mails, only rebuilt", "cus_8")],
        ),
        (
            "INSERT INTO projection_customers_1.merged VALUES ('cus_8', 'cus_9', 5)",
            [("customers.merged, only live", "cus_9")],
        ),
    ],
)
def test_a_row_that_was_tampered_with_is_named(
    database: str, change: str, found: list[tuple[str, str]]
) -> None:
    async def steps(side: ReadSide) -> list[str]:
        await side.append()
        await side.catch_up()
        assert await differences(side.conninfo, side.policy, most=13) == []
        await side.rows(change)
        before = await side.schemas()
        lines = await differences(side.conninfo, side.policy)
        assert await side.schemas() == before
        return lines

    lines = sorted(with_read_side(database, story(), steps))
    assert len(lines) == len(found)
    for line, (where, what) in zip(lines, found, strict=True):
        assert line.startswith(where)
        assert what in line


def test_without_a_policy_it_goes_by_that_of_the_live_one(database: str) -> None:
    ladder = Policy(stages=(Stage("day-2", 2, 0),))

    async def steps(side: ReadSide) -> None:
        await side.append()
        await side.catch_up()
        assert await differences(side.conninfo) == []
        assert len(await differences(side.conninfo, Policy())) > 10

    with_read_side(database, story(policy=ladder), steps)


def test_it_compares_up_to_where_the_live_one_is(database: str) -> None:
    async def steps(side: ReadSide) -> list[str]:
        await side.append(60)
        await side.catch_up()
        await side.append()
        return await differences(side.conninfo, side.policy)

    assert with_read_side(database, story(), steps) == []
