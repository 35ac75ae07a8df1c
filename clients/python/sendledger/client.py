"""The two clients, `Ledger` and `AsyncLedger`: thin faces of one core."""

from __future__ import annotations

import os
import uuid
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote, urlencode

import httpx

from sendledger import kinds
from sendledger.calls import outcome_calls
from sendledger.delivery import Classify
from sendledger.drivers import AsyncBlock, AsyncDriver, Block, SyncDriver, Wire
from sendledger.effects import Call
from sendledger.errors import LedgerError
from sendledger.flows import Flows, SendResult
from sendledger.kinds import Ask, Fields
from sendledger.observing import Hook, Hooks, LogHook
from sendledger.pace import Pace
from sendledger.permit import Granted, Outcome, Permit
from sendledger.spool import Spool

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Self

    P = ParamSpec("P")

T = TypeVar("T")
DEFAULT_URL = "http://127.0.0.1:8080"


class Kinds(Generic[T]):
    """`ledger.permit`: a method for each kind of mail, with the parameters of `sendledger.kinds`.

    Each asks for a permit and gives a block; `ledger.permit(ask)` does so for a request that was
    made before.
    """

    def __init__(self, open_block: Callable[[Ask], T]) -> None:
        def opening(make: Callable[P, Ask]) -> Callable[P, T]:
            def method(*args: P.args, **fields: P.kwargs) -> T:
                return open_block(make(*args, **fields))

            method.__doc__ = make.__doc__
            return method

        self._open = open_block
        self.reminder = opening(kinds.reminder)
        self.payment_failed = opening(kinds.payment_failed)
        self.reply = opening(kinds.reply)
        self.message = opening(kinds.message)
        self.follow_up = opening(kinds.follow_up)
        self.notification = opening(kinds.notification)
        self.digest = opening(kinds.digest)
        self.apology = opening(kinds.apology)

    def __call__(self, ask: Ask) -> T:
        return self._open(ask)


class _Client:
    """What both clients are made of.

    `url` and `key` default to LEDGER_URL and LEDGER_KEY, `spool` (a folder) to SENDLEDGER_SPOOL.
    `hooks` are told of calls and outcomes, beside the log. `classify` says of an error that leaves
    a block why the mail certainly did not go out; what it does not know is judged by
    `certain_refusal`.
    Raises LedgerError where no key is given.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        pace: Pace | None = None,
        spool: str | os.PathLike[str] | None = None,
        hooks: Sequence[Hook] = (),
        classify: Classify | None = None,
    ) -> None:
        url = url or os.environ.get("LEDGER_URL") or DEFAULT_URL
        key = key or os.environ.get("LEDGER_KEY") or ""
        if not key:
            raise LedgerError("there is no key: set LEDGER_KEY, or give key=")
        folder = spool or os.environ.get("SENDLEDGER_SPOOL")
        told = Hooks((LogHook(), *hooks))
        self._wire = Wire(url, key, told)
        kept = Spool(folder, f"{self._wire.url} {key}") if folder else None
        self._flows = Flows(pace or Pace(), told, kept, classify)

    def _close_spool(self) -> None:
        if self._flows.spool is not None:
            self._flows.spool.close()


class Ledger(_Client):
    """The client for programs with blocking calls. Threads may share one.

    `transport` replaces httpx's own, for instance in tests.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        pace: Pace | None = None,
        spool: str | os.PathLike[str] | None = None,
        hooks: Sequence[Hook] = (),
        classify: Classify | None = None,
    ) -> None:
        super().__init__(url, key, pace=pace, spool=spool, hooks=hooks, classify=classify)
        self._driver = SyncDriver(
            self._wire, lambda: httpx.Client(transport=transport, trust_env=False)
        )
        self.permit: Kinds[Block] = Kinds(lambda ask: Block(self._driver, self._flows.block(ask)))

    def send_once(self, ask: Ask, *, send: Callable[[Permit], T]) -> SendResult[T]:
        """Send by this function, at most once; for a duplicate what is known of the first send.

        Raises Denied for every other no, Unavailable where the ledger cannot be asked, and what the
        function raises.
        """
        return self._driver.run(self._flows.send_once(ask, send))

    def due(self, *, limit: int = 25, stage: str | None = None) -> Iterator[Permit]:
        """A whole poller: a redeemed permit for each customer with something newly due.

        Run it as often and as many times at once as you like. What became of a mail is reported
        when the loop goes on or is left. `limit`: so many are claimed at once.
        """
        return self._driver.iterate(self._flows.due(limit, stage))

    def ask(self, ask: Ask) -> Granted:
        """A permit that is not redeemed yet, for a mail that takes long to write."""
        return self._driver.run(self._flows.ask(ask))

    def redeem(self, granted: Granted) -> Block:
        """A block that redeems the permit of `ask` right before it begins."""
        return Block(self._driver, self._flows.redeemed_block(granted))

    def give_back(self, granted: Granted) -> bool:
        """Report that the permit of `ask` was not used; True once the ledger has heard it.

        It counts as a rejection. A permit of a key that must redeem lapses by itself as unused.
        """
        return self._driver.run(self._flows.give_back(granted))

    def tell(self, facts: Iterable[Fields]) -> Any:
        """Post facts (CloudEvents); their (source, id) makes a repeat harmless."""
        return self._driver.run(self._flows.plain(facts_call(facts)))

    def put_invoice(self, invoice_id: str, snapshot: Fields) -> Any:
        """Put an invoice's snapshot: what the billing system says now."""
        return self._driver.run(self._flows.plain(invoice_call(invoice_id, snapshot)))

    def report(self, permit_id: str, outcome: Outcome) -> Any:
        """Report the outcome of a permit whose block is not this program's any more.

        Raises Denied or Unavailable: here somebody waits for the answer.
        """
        return self._driver.run(self._flows.plain(report_call(permit_id, outcome)))

    def read(self, path: str, body: Fields | None = None, **query: Any) -> Any:
        """The answer to a call that changes nothing: a GET, or a POST where there is a body.

        `path` is that of the HTTP interface, such as `/v1/due`. Raises Denied or Unavailable.
        """
        return self._driver.run(self._flows.plain(read_call(path, body, query)))

    def flush(self) -> int:
        """Report what the spool holds; how many outcomes are left."""
        return self._driver.run(self._flows.flush())

    def close(self) -> None:
        """Close connections and spool."""
        self._driver.close()
        self._close_spool()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncLedger(_Client):
    """The client for programs with asyncio.

    Its methods are those of `Ledger`, to be awaited.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        pace: Pace | None = None,
        spool: str | os.PathLike[str] | None = None,
        hooks: Sequence[Hook] = (),
        classify: Classify | None = None,
    ) -> None:
        super().__init__(url, key, pace=pace, spool=spool, hooks=hooks, classify=classify)
        self._driver = AsyncDriver(
            self._wire, lambda: httpx.AsyncClient(transport=transport, trust_env=False)
        )
        self.permit: Kinds[AsyncBlock] = Kinds(
            lambda ask: AsyncBlock(self._driver, self._flows.block(ask))
        )

    async def send_once(self, ask: Ask, *, send: Callable[[Permit], Awaitable[T]]) -> SendResult[T]:
        """See `Ledger.send_once`."""
        return await self._driver.run(self._flows.send_once(ask, send))

    def due(self, *, limit: int = 25, stage: str | None = None) -> AsyncIterator[Permit]:
        """See `Ledger.due`; leave the loop early inside `contextlib.aclosing`."""
        return self._driver.iterate(self._flows.due(limit, stage))

    async def ask(self, ask: Ask) -> Granted:
        """See `Ledger.ask`."""
        return await self._driver.run(self._flows.ask(ask))

    def redeem(self, granted: Granted) -> AsyncBlock:
        """See `Ledger.redeem`."""
        return AsyncBlock(self._driver, self._flows.redeemed_block(granted))

    async def give_back(self, granted: Granted) -> bool:
        """See `Ledger.give_back`."""
        return await self._driver.run(self._flows.give_back(granted))

    async def tell(self, facts: Iterable[Fields]) -> Any:
        """See `Ledger.tell`."""
        return await self._driver.run(self._flows.plain(facts_call(facts)))

    async def put_invoice(self, invoice_id: str, snapshot: Fields) -> Any:
        """See `Ledger.put_invoice`."""
        return await self._driver.run(self._flows.plain(invoice_call(invoice_id, snapshot)))

    async def report(self, permit_id: str, outcome: Outcome) -> Any:
        """See `Ledger.report`."""
        return await self._driver.run(self._flows.plain(report_call(permit_id, outcome)))

    async def read(self, path: str, body: Fields | None = None, **query: Any) -> Any:
        """See `Ledger.read`."""
        return await self._driver.run(self._flows.plain(read_call(path, body, query)))

    async def flush(self) -> int:
        """See `Ledger.flush`."""
        return await self._driver.run(self._flows.flush())

    async def close(self) -> None:
        """Close connections and spool."""
        await self._driver.close()
        self._close_spool()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


def facts_call(facts: Iterable[Fields]) -> Call:
    """Tell facts; a fact without an `id` gets a random one, which its retries keep."""
    events = [{"id": uuid.uuid4().hex, **fact} for fact in facts]
    return Call("facts", "POST", "/v1/facts", kinds.plain({"facts": events}))


def invoice_call(invoice_id: str, snapshot: Mapping[str, Any]) -> Call:
    """Put an invoice's snapshot."""
    path = f"/v1/invoices/{quote(invoice_id, safe='')}"
    return Call("invoice", "PUT", path, kinds.plain(snapshot))


def report_call(permit_id: str, outcome: Outcome) -> Call:
    """Report one outcome."""
    ((_, call),) = outcome_calls([(permit_id, outcome.body())])
    return call


def read_call(path: str, body: Fields | None, query: Fields) -> Call:
    """Read something; parameters that are None are left out."""
    given = {name: value for name, value in query.items() if value is not None}
    target = f"{path}?{urlencode(given)}" if given else path
    if body is None:
        return Call("read", "GET", target)
    return Call("read", "POST", target, kinds.plain(body))
