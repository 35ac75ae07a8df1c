"""Takes a provider's sent log in: mails that went out past the ledger, and those of its permits."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice

import orjson
from psycopg import AsyncConnection

from api.contract.translation import Translator
from api.imports.profiles.profile import Fate
from api.imports.rows import BadRow, RawRow
from api.imports.sends_log import Reading, SentMail, is_taken, understood
from api.settings.environment import Settings
from api.settings.writing import writer_of
from ledger.application.answers import Answer
from ledger.application.caller import SYSTEM, Caller
from ledger.application.commands import ApplyFact
from ledger.application.engine import Engine
from ledger.application.facts.customer_observed import CustomerObserved
from ledger.application.facts.delivery import Delivery
from ledger.application.facts.fact import Fact
from ledger.application.facts.fact_names import fact_name
from ledger.application.facts.send_observed import SendObserved
from ledger.application.limits import Limits
from ledger.application.ports import Loaded, Need
from ledger.application.world import Identity, Name
from ledger.domain.identity import Address, customer_known_by
from ledger.store.log.loading import load_need

IMPORTER = Caller(SYSTEM.key_id, "import", frozenset({"facts"}))
_ROWS_AT_ONCE = 1_000
_AGGREGATES = 8_192
"""How many customers, invoices and threads the import keeps in memory."""
_TRIES = 6
_FUTURE = timedelta(days=1)
"""Clocks may be apart; a mail that went out later than this from now is a mistake in the log."""


class ImportStopped(Exception):
    """The store did not answer; what was taken in stays, and is known when it is tried again."""


@dataclass(slots=True)
class Counts:
    """What became of the rows."""

    rows: int = 0
    observed: int = 0
    settled: int = 0
    duplicate: int = 0
    left_out: int = 0
    failed: int = 0
    other: int = 0
    bad: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """A mail as it was understood, and what the ledger would make of it."""

    mail: SentMail
    becomes: str


@dataclass(slots=True)
class Import:
    """One run: `on_bad(line, why)` hears of each row that is skipped, `on_rows(n)` of progress.

    With `dry_run` everything is looked up and nothing written; `on_shown` hears of each mail.
    """

    settings: Settings
    conninfo: str
    reading: Reading
    on_bad: Callable[[int, str], None]
    on_rows: Callable[[int], None]
    dry_run: bool = False
    on_shown: Callable[[Shown], None] = lambda shown: None
    counts: Counts = field(default_factory=Counts)

    async def run(self, rows: Iterable[RawRow]) -> Counts:
        """Take the rows in, a bounded number at a time. Raises ImportStopped, psycopg.Error."""
        policy = self.settings.policy
        identity = Identity(self.settings.secret, policy.message_id_domain)
        writer = writer_of(self.settings, self.conninfo)
        engine = Engine(writer, policy, identity, Limits(aggregates=_AGGREGATES))
        connection = await AsyncConnection.connect(
            self.conninfo, autocommit=True, options="-c timezone=UTC -c jit=off"
        )
        await engine.start()
        try:
            async with connection:
                session = _Session(self, connection, engine, identity)
                for chunk in _chunks(rows):
                    await session.take(chunk)
        finally:
            await engine.stop()
            await writer.close()
        return self.counts


@dataclass(frozen=True, slots=True)
class _Told:
    """A row with what it tells; `of_permit` says that a permit's mail went out."""

    mail: SentMail
    facts: list[Fact]
    of_permit: bool


@dataclass(slots=True)
class _Session:
    """The open parts of a run."""

    run: Import
    connection: AsyncConnection[tuple[object, ...]]
    engine: Engine
    identity: Identity

    async def take(self, chunk: list[RawRow]) -> None:
        """Judge the rows of a chunk, and apply what they tell that is not known yet."""
        mails = [mail for row in chunk for mail in self._read(row)]
        found = await load_need(self.connection, self._needs(mails))
        permits = set(found.permits)
        told = {found.names[n] for m in mails for n in self._permit_names(m) if n in found.names}
        if told - permits:
            permits |= set((await load_need(self.connection, Need(permits=told))).permits)
        fresh: list[_Told] = []
        seen: set[str | None] = set()
        for mail in mails:
            row = self._told(mail, found, permits)
            ids = {row.facts[-1].fact_id, mail.mail_id}
            if mail.data.at > found.now + _FUTURE:
                self._bad(mail.line, "at: the time lies in the future")
            elif ids & seen or any(name in found.names for name in self._fact_names(mail)):
                self.run.counts.duplicate += 1
                self._show(mail, "known already")
            else:
                seen.add(row.facts[-1].fact_id)
                fresh.append(row)
                self._show(mail, "the ledger's own" if row.of_permit else "past the ledger")
        if self.run.dry_run:
            for row in fresh:
                self._count("applied", row)
        else:
            await self._apply(fresh)
        self.run.counts.rows += len(chunk)
        self.run.on_rows(self.run.counts.rows)

    def _show(self, mail: SentMail, becomes: str) -> None:
        if self.run.dry_run:
            self.run.on_shown(Shown(mail, becomes))

    def _read(self, row: RawRow) -> tuple[SentMail, ...]:
        """The copies that went out by a row; anything else in it is only counted."""
        reading, counts = self.run.reading, self.run.counts
        try:
            if not is_taken(row, reading):
                counts.left_out += 1
                return ()
            told = understood(row, reading)
        except BadRow as error:
            self._bad(row.line, str(error))
            return ()
        if told.fate is Fate.OTHER:
            counts.other += 1
            return ()
        mails = tuple(mail for mail in told.mails if mail.copy not in reading.failed)
        if told.fate is Fate.FAILED or not mails:
            counts.failed += 1
            return ()
        return mails if self._has_a_known_stage(mails[0]) else ()

    def _has_a_known_stage(self, mail: SentMail) -> bool:
        policy, stage = self.run.settings.policy, mail.data.stage
        if stage is None or policy.stage(stage) is not None:
            return True
        known = ", ".join(stage.name for stage in policy.stages)
        self._bad(mail.line, f"stage: it is not one of the policy's: {known}")
        return False

    def _needs(self, mails: list[SentMail]) -> Need:
        """What the ledger may know of these rows: the row itself, its permit, its address."""
        need = Need()
        for mail in mails:
            need.names.update(self._fact_names(mail))
            need.names.update(self._permit_names(mail))
            permit_id = self._permit_proved(mail)
            if permit_id is not None:
                need.permits.add(permit_id)
            if mail.address is not None:
                need.names.add(("address", self._address(mail.address).fingerprint))
        return need

    def _told(self, mail: SentMail, found: Loaded, permits: set[str]) -> _Told:
        """What a row tells: of a permit's mail that it went out, of any other that it was sent."""
        source, at = self.run.reading.source, mail.data.at
        permit_id = self._permit_proved(mail)
        if permit_id not in permits:
            known = (found.names.get(name) for name in self._permit_names(mail))
            permit_id = next((p for p in known if p in permits), None)
        if permit_id is not None:
            provider_id = self._known_id(mail, found)
            word = Delivery(source, "delivered", provider_id, mail.message_id, permit_id)
            # One word settles it, however many copies of it went out.
            return _Told(mail, [Fact(word, source, mail.mail_id, at)], of_permit=True)
        facts = []
        customer_id = mail.data.customer_id
        if mail.address is not None:
            address = self._address(mail.address)
            claimed = found.names.get(("address", address.fingerprint))
            customer_id = claimed or customer_known_by(address)
            if claimed is None:
                facts.append(Fact(CustomerObserved(customer_id, (address,)), source, None, at))
        # A token of another ledger, such as that of a drill, says nothing here.
        token = mail.data.send_token if self.identity.proof_in(None, mail.data.send_token) else None
        told = {"customer_id": customer_id, "message_id": mail.message_id, "send_token": token}
        sent = Translator(self.identity).sent(mail.data.model_copy(update=told))
        return _Told(mail, [*facts, Fact(sent, source, self._copy_id(mail), at)], of_permit=False)

    async def _apply(self, fresh: list[_Told]) -> None:
        """Apply the facts in their order; the last of each row says what became of it."""
        waiting = fresh
        for attempt in range(_TRIES):
            commands = [ApplyFact(fact, IMPORTER) for row in waiting for fact in row.facts]
            answers = iter(await self.engine.submit_all(commands))
            again: list[_Told] = []
            for row in waiting:
                last = [next(answers) for _ in row.facts][-1]
                if last.status >= 500:
                    again.append(row)
                else:
                    self._note(row, last)
            if not again:
                return
            waiting = again
            await asyncio.sleep(min(2**attempt, 10))
        raise ImportStopped(
            f"the store does not answer; {self.run.counts.rows} rows were taken in. Run the same "
            "command again: it goes on where it stopped"
        )

    def _note(self, row: _Told, answer: Answer) -> None:
        if answer.result == "rejected" or answer.status >= 400:
            detail = orjson.loads(answer.body).get("detail")
            self._bad(row.mail.line, str(detail or "the ledger refused it"))
        else:
            self._count(answer.result, row)

    def _count(self, result: str, row: _Told) -> None:
        counts = self.run.counts
        if result == "duplicate":
            counts.duplicate += 1
        elif row.of_permit:
            counts.settled += 1
        else:
            counts.observed += 1

    def _bad(self, line: int, why: str) -> None:
        self.run.counts.bad += 1
        self.run.on_bad(line, why)

    def _fact_names(self, mail: SentMail) -> list[Name]:
        """The names under which the row may be known: as its copy's, and as the mail's."""
        ids = dict.fromkeys((self._copy_id(mail), mail.mail_id))
        of_nobody, source = _of_nobody(mail), self.run.reading.source
        return [("fact", fact_name(Fact(of_nobody, source, fact_id))) for fact_id in ids]

    def _copy_id(self, mail: SentMail) -> str:
        """The name of one copy: the recipient is in it by fingerprint alone (design D18)."""
        if not mail.by_recipient or mail.address is None:
            return mail.mail_id
        return f"{mail.mail_id}#{self._address(mail.address).fingerprint[:16]}"

    def _permit_proved(self, mail: SentMail) -> str | None:
        """The permit that the mail names with our MAC, lost or not."""
        proof = self.identity.proof_in(mail.message_id, mail.data.send_token)
        return proof.permit_id if proof is not None else None

    @staticmethod
    def _known_id(mail: SentMail, found: Loaded) -> str | None:
        """The provider's id that the ledger knows, else the likeliest one."""
        known = (id for id in mail.provider_ids if ("provider_message", id) in found.names)
        return next(known, next(iter(mail.provider_ids), None))

    @staticmethod
    def _permit_names(mail: SentMail) -> list[Name]:
        names: list[Name] = [("provider_message", id) for id in mail.provider_ids]
        if mail.message_id is not None:
            names.insert(0, ("sent_message", mail.message_id))
        return names

    def _address(self, text: str) -> Address:
        return Translator(self.identity).address(text)


def _of_nobody(mail: SentMail) -> SendObserved:
    return SendObserved(mail.data.customer_id, mail.data.at)


def _chunks(rows: Iterable[RawRow]) -> Iterator[list[RawRow]]:
    remaining = iter(rows)
    while chunk := list(islice(remaining, _ROWS_AT_ONCE)):
        yield chunk
