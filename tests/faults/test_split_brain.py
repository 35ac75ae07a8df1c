"""Two primaries at once: a standby was promoted, and nobody stopped the old primary.

Senders keep asking both. Counted are the sends that were granted on both and heard of.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import psycopg
import pytest

from ledger.application.engine import Engine
from ledger.domain.policy import Policy
from ledger.store.log.timeouts import Timeouts
from ledger.store.log.writer import PostgresWriter
from ledger.store.migrate import migrate
from ledger.store.witness.shared_witness import SharedWitness, prepare_shared_witness
from tests.integration.store.engines import IDENTITY, ask, body, codes, invoice, rows
from tests.support.replication import Node, cluster

SENDS = 60
LAST = f"inv-{SENDS - 1}"
IN_SYNC = "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
HASTY = Timeouts(lock=2_000, answer=4_000)


@pytest.fixture
def nodes() -> Iterator[list[Node]]:
    """A primary `a` with the ledger's tables, and two standbys."""
    with cluster("debian15", 2) as found:
        migrate(found[0].conninfo)
        yield found


@asynccontextmanager
async def sender(
    node: Node, *, shared: str | None = None, require_sync: bool = False
) -> AsyncIterator[Engine]:
    """A process of the ledger that writes to that server."""
    witness = SharedWitness(shared) if shared is not None else None
    writer = PostgresWriter(node.conninfo, HASTY, shared=witness, require_sync=require_sync)
    engine = Engine(writer, Policy(), IDENTITY)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()
        await writer.close()


async def ask_all(engine: Engine, heard: set[str]) -> set[str]:
    """Ask for every send, one after the other; the ones that were granted are `heard` of."""
    for number in range(SENDS):
        if codes([await engine.submit(ask(f"inv-{number}"))]) == ["granted"]:
            heard.add(f"inv-{number}")
    return heard


async def tell(engine: Engine, primary: Node, *standbys: Node) -> None:
    """Sixty invoices, each of a customer of its own, on all servers."""
    await engine.submit_all([invoice(f"inv-{number}") for number in range(SENDS)])
    await asyncio.to_thread(primary.until_followed_by, *standbys)


async def promoted_under_load(old: Engine, new: Node, heard: set[str]) -> "asyncio.Task[set[str]]":
    """The standby is promoted while the old primary grants one send after another, and goes on."""
    asking = asyncio.create_task(ask_all(old, heard))
    while not heard:
        await asyncio.sleep(0.001)
    await asyncio.to_thread(new.promote)
    return asking


def test_without_any_of_it_sends_are_granted_twice(nodes: list[Node]) -> None:
    """What is at stake: replication is asynchronous, and each primary knows only its own."""
    a, b, c = nodes

    async def scenario() -> int:
        async with sender(a) as old:
            await tell(old, a, b, c)
            await asyncio.to_thread(b.promote)
            async with sender(b) as new:
                one, other = await asyncio.gather(ask_all(old, set()), ask_all(new, set()))
        return len(one & other)

    assert asyncio.run(scenario()) == SENDS


def test_with_require_sync_only_the_primary_that_a_standby_confirms_is_heard(
    nodes: list[Node],
) -> None:
    """`c` follows `b`, which is promoted under load."""
    a, b, c = nodes

    async def scenario() -> tuple[set[str], set[str]]:
        old_heard: set[str] = set()
        async with sender(a, require_sync=True) as old:
            denied = await old.submit(invoice("too soon"))
            assert denied.status == 503
            assert "waits for no standby" in body(denied)["detail"]
            c.follow_instead(b)
            a.set("synchronous_standby_names", "b")
            a.until(IN_SYNC)
            await tell(old, a, b)
            asking = await promoted_under_load(old, b, old_heard)
            b.set("synchronous_standby_names", "c")
            b.until(IN_SYNC)
            async with sender(b, require_sync=True) as new:
                new_heard = await ask_all(new, set())
            asking.cancel()
            late = await old.submit(ask("inv-1"))
            assert late.status == 503
            assert "no synchronous standby" in body(late)["detail"]
        return old_heard, new_heard

    old_heard, new_heard = asyncio.run(scenario())
    assert old_heard
    assert new_heard
    assert old_heard & new_heard == set()


@pytest.mark.parametrize("cancelled", [True, False], ids=["cancelled", "waiting"])
def test_a_commit_that_no_standby_confirms_is_no_yes(nodes: list[Node], cancelled: bool) -> None:
    """Where the wait is cancelled PostgreSQL says COMMIT, and warns: the grant is in this log only.

    Once the standby has it too, the same key hears of it.
    """
    a, b, _ = nodes

    async def scenario() -> None:
        a.set("synchronous_standby_names", "b")
        a.until(IN_SYNC)
        async with sender(a, require_sync=True) as engine:
            await engine.submit(invoice("inv-0"))
            b.stop()
            asked = asyncio.create_task(engine.submit(ask("inv-0", key="k")))
            waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            await asyncio.to_thread(a.until, f"SELECT count(*) > 0 {waiting}")
            if cancelled:
                a.until(f"SELECT bool_and(pg_cancel_backend(pid)) {waiting}")
            answer = await asked
            assert (answer.status, body(answer)["code"]) == (503, "unavailable")
            seen = await rows(a.conninfo, "SELECT count(*) FROM permits")
            assert seen == [(1 if cancelled else 0,)]
            assert codes([await engine.submit(ask("inv-0", key="k"))]) == ["unavailable"]
            b.start()
            a.until(IN_SYNC)
            again = await engine.submit(ask("inv-0", key="k"))
            assert (again.status, again.headers) == (200, (("Idempotent-Replayed", "true"),))

    asyncio.run(scenario())


@pytest.fixture
def shared(postgres: str) -> str:
    """The shared witness: a database on a server that is none of the cluster's."""
    prepare_shared_witness(postgres)
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute("TRUNCATE send_ledger_witness")
    return postgres


def test_with_a_shared_witness_the_old_primary_is_not_heard_once_the_new_one_was(
    nodes: list[Node], shared: str
) -> None:
    a, b, c = nodes

    async def scenario() -> tuple[set[str], set[str]]:
        async with sender(a, shared=shared) as old, sender(b, shared=shared) as new:
            await tell(old, a, b, c)
            await asyncio.to_thread(b.promote)
            assert codes([await new.submit(ask("inv-0"))]) == ["granted"]
            one, other = await asyncio.gather(ask_all(old, set()), ask_all(new, set()))
            refused = await old.submit(ask("inv-1"))
            assert refused.status == 503
            assert "an old primary" in body(refused)["detail"]
        return one, other | {"inv-0"}

    one, other = asyncio.run(scenario())
    assert one == set()
    assert len(other) == SENDS


def test_with_a_shared_witness_a_new_primary_that_lacks_a_grant_grants_nothing(
    nodes: list[Node], shared: str
) -> None:
    """The old primary was heard after its log was cut off: the new one waits for a human, and the
    old one is not heard again."""
    a, b, c = nodes

    async def scenario() -> tuple[set[str], set[str]]:
        old_heard: set[str] = set()
        async with sender(a, shared=shared) as old:
            await tell(old, a, b, c)
            asking = await promoted_under_load(old, b, old_heard)
            async with sender(b, shared=shared) as new:
                if codes([await old.submit(ask(LAST))]) == ["granted"]:
                    old_heard.add(LAST)
                _, new_heard = await asyncio.gather(asking, ask_all(new, set()))
                refused = codes([await new.submit(ask(LAST))])
                assert (await old.submit(invoice("more"))).status == 503
        assert refused == ["recovery_mode"]
        return old_heard, new_heard

    old_heard, new_heard = asyncio.run(scenario())
    assert LAST in old_heard
    assert old_heard & new_heard == set()


def test_with_the_shared_witness_down_nothing_is_answered(nodes: list[Node], shared: str) -> None:
    async def scenario() -> None:
        nowhere = shared.replace("port=5432", "port=1")
        async with sender(nodes[0], shared=nowhere) as engine:
            answer = await engine.submit(invoice("inv-0"))
            assert answer.status == 503
            assert "the shared witness does not answer" in body(answer)["detail"]

    asyncio.run(scenario())
