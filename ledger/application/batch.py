"""Decides a list of commands in order over one open transaction, and collects what to write."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID

from ledger.application import answers, riding
from ledger.application.answers import Answer
from ledger.application.cache import AggregateCache
from ledger.application.caller import Riding
from ledger.application.commands import (
    ApplyFact,
    BindAnswer,
    Command,
    DryRun,
    Redeem,
    RequestPermit,
)
from ledger.application.decide import decide, lapses, riding_facts
from ledger.application.decision_rows import decision_row
from ledger.application.dry_run import rehearse
from ledger.application.effects import Change, NameClaim, Outcome, denied, ids_of_outcome
from ledger.application.facts.confirmations import latest_snapshot
from ledger.application.key_obstacles import obstacle_on_record
from ledger.application.ports import (
    Batch,
    BindingRow,
    DecisionRow,
    Head,
    Loaded,
    Need,
    WriterSession,
)
from ledger.application.prefetch import follow
from ledger.application.repeated_denials import Tally, repeated_decision
from ledger.application.trial import Trial
from ledger.application.views import invoice_view
from ledger.application.walk import Walk
from ledger.application.world import LONGEST_MERGE_CHAIN, Binding, Identity, NotLoaded, World
from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.invoice import Invoice
from ledger.domain.policy import Policy

_MOST_LOADS, _MOST_WALKS = LONGEST_MERGE_CHAIN, 5
SNAPSHOT_EVERY = 32
"""A snapshot is written each time an aggregate's version passes a multiple of this."""


@dataclass(slots=True)
class Work:
    """One transaction being put together."""

    session: WriterSession
    cache: AggregateCache
    world: World
    batch: Batch
    policy_version: str
    touched: list[UUID] = field(default_factory=list)
    granted_bodies: dict[str, bytes] = field(default_factory=dict)
    to_snapshot: dict[UUID, Any] = field(default_factory=dict)
    trial: Trial | None = None
    tally: Tally | None = None
    owed: int = 0

    @property
    def decided(self) -> Iterator[DecisionRow]:
        """The decisions of this transaction, counted ones included; no rows of earlier ones."""
        yield from self.batch.decisions[self.owed :]
        if self.tally is not None:
            yield from self.tally.counted


def open_work(
    session: WriterSession,
    cache: AggregateCache,
    head: Head,
    policy: Policy,
    policy_version: str,
    identity: Identity,
) -> Work:
    """Work on top of this head of the log."""
    world = World(head.now, policy, identity, cache.aggregates)
    return Work(session, cache, world, Batch(head), policy_version)


async def prepare(work: Work, commands: list[Command]) -> None:
    """Load what the commands will look at, a few round trips for all of them."""
    if CONTROL_ID not in work.world.aggregates:
        await load(work, Need(aggregates={CONTROL_ID}))
    if not all(isinstance(command, DryRun) for command in commands):
        await _set_up(work)
    work.touched.append(CONTROL_ID)
    looked_up: set[str] = set()
    for _ in range(_MOST_WALKS):
        walk = Walk(work.world, work.cache.addresses, looked_up)
        for command in commands:
            follow(walk, command)
        if not walk.need or not await load(work, walk.need):
            break
    work.touched.extend(walk.seen)


async def _set_up(work: Work) -> None:
    """The ledger's switches come into the log before whatever is written first."""
    if work.world.aggregates[CONTROL_ID] is None:
        started = Change(CONTROL_ID, Control.Created, {"originator_topic": Control.TOPIC})
        await _apply(work, started)


async def load(work: Work, need: Need) -> bool:
    """Load what is needed and not there yet; what does not exist is known as such.

    Answers whether anything was found, which may lead to more.
    """
    world, cache = work.world, work.cache
    work.touched.extend(need.aggregates)
    need.aggregates = {i for i in need.aggregates if i not in world.aggregates}
    need.permits = {p for p in need.permits if p not in world.permits}
    need.names = {n for n in need.names if n not in world.names}
    need.bindings = {b for b in need.bindings if b not in world.bindings}
    need.owners = {o for o in need.owners if o not in world.invoices_by_customer}
    need.fingerprints = {f for f in need.fingerprints if f not in cache.addresses}
    if not need:
        return False
    found = await work.session.load(need)
    _keep(work, need, found)
    return bool(found)


def _keep(work: Work, need: Need, found: Loaded) -> None:
    world, cache = work.world, work.cache
    for id_ in need.aggregates:
        world.aggregates[id_] = found.aggregates.get(id_)
    for permit_id in need.permits:
        world.permits[permit_id] = found.permits.get(permit_id)
    for name in need.names:
        world.names[name] = found.names.get(name)
    for scope in need.bindings:
        world.bindings[scope] = found.bindings.get(scope)
    for customer_id in need.owners:
        written = found.owned.get(customer_id, ())
        to_write = sorted(i for c, i in work.batch.owners if c == customer_id)
        world.invoices_by_customer[customer_id] = tuple(dict.fromkeys((*written, *to_write)))
    # Only what was found is kept: another engine may be told a missing address at any time, and
    # no event says so.
    cache.addresses.update(found.contacts)


async def run(work: Work, command: Command) -> Answer:
    """Decide one command, apply its events, and give the answer that holds once it is committed."""
    if isinstance(command, DryRun):
        return await rehearse(work, command, _outcome, _set_up)
    return await _answer(work, command, await _outcome(work, command))


async def _outcome(work: Work, command: Command) -> Outcome:
    """The outcome; its events are applied, after those of lapses and riding facts."""
    if isinstance(command, RequestPermit) and command.facts:
        if command.caller.riding is not Riding.ALL:
            return await _on_trial(work, command)
        for fact in riding_facts(command):
            await _in_time(work, fact)
    return await _in_time(work, command)


async def _on_trial(work: Work, command: RequestPermit) -> Outcome:
    """Decide on facts of a key that is not believed whatever it says (ADR 0014).

    They stay only with a grant, and there is none on those that harm somebody. What a denial itself
    does, such as opening a breaker, applies to the state without those facts.
    """
    if command.caller.riding is Riding.NONE:
        return _forgotten(denied(riding.refusal_of_all()))
    limit = await _loading(work, partial(obstacle_on_record, work.world, command))
    if limit is not None:
        return denied(limit)
    for lapse in await _loading(work, lambda: lapses(work.world, command)):
        await _step(work, lapse)
    to_snapshot = dict(work.to_snapshot)
    around, before = work.trial, work.world.before
    trial = work.trial = Trial.begin(work.world, work.batch, work.cache, around)
    work.world.before = trial.before
    try:
        for fact in riding_facts(command):
            own = await _loading(work, partial(riding.as_own, work.world, fact.fact))
            await _in_time(work, replace(fact, fact=own))
        refusal = await _loading(work, partial(riding.refusal, work.world, command, trial.before))
        outcome = await _in_time(work, command)
    finally:
        work.trial, work.world.before = around, before
    if outcome.status == 201 and refusal is None:
        return outcome
    trial.take_back()
    work.to_snapshot = to_snapshot
    if refusal is not None and (outcome.status == 201 or command.caller.limits is not None):
        return _forgotten(denied(refusal, **ids_of_outcome(outcome)))
    kept = [c for c in outcome.changes if work.world.aggregates.get(c.aggregate_id) is not None]
    for change in kept:
        await _apply(work, change)
    work.batch.alerts.extend((alert, work.world.now) for alert in outcome.alerts)
    outcome.warnings.append(riding.NOT_KEPT)
    return _forgotten(outcome)


def _forgotten(outcome: Outcome) -> Outcome:
    """Mark the decision: its explanation cannot show facts that were not kept."""
    outcome.body["riding_facts"] = "not_kept"
    return outcome


async def _in_time(work: Work, command: Command) -> Outcome:
    """Let the permits lapse that bear on the command and whose time is up, then decide it (D6)."""
    for lapse in await _loading(work, lambda: lapses(work.world, command)):
        await _step(work, lapse)
    return await _step(work, command)


async def _step(work: Work, command: Command) -> Outcome:
    outcome: Outcome = await _loading(work, lambda: decide(work.world, command))
    for change in outcome.changes:
        await _apply(work, change)
    _take_in(work, outcome)
    if outcome.forget_addresses_of is not None:
        # Else a later command of the batch would load the address, which is still there.
        await work.session.send_part(work.batch)
    return outcome


async def _loading(work: Work, ask: Any) -> Any:
    """Call a pure function, loading what it misses until it has seen all it needs."""
    for _ in range(_MOST_LOADS):
        try:
            return ask()
        except NotLoaded as missing:
            await load(work, Need.of_missing(missing))
    raise RuntimeError("a decision kept asking for more than may be loaded")


async def _apply(work: Work, change: Change) -> None:
    """Number the event, stamp it with the time of the batch, and let it change its aggregate."""
    aggregates: dict[UUID, Any] = work.world.aggregates
    work.touched.append(change.aggregate_id)
    try:
        held = aggregate = aggregates[change.aggregate_id]
    except KeyError:
        await load(work, Need(aggregates={change.aggregate_id}))
        held = aggregate = aggregates[change.aggregate_id]
    if work.trial is not None:
        aggregate = work.trial.to_change(change.aggregate_id, held)
    version = 1 if aggregate is None else aggregate.version + 1
    event = change.event(
        originator_id=change.aggregate_id,
        originator_version=version,
        timestamp=work.world.now,
        **change.fields,
    )
    mutated = event.mutate(aggregate)
    if mutated is not held:
        aggregates[change.aggregate_id] = mutated
    work.batch.events.append(event)
    if version % SNAPSHOT_EVERY == 0:
        work.to_snapshot[change.aggregate_id] = mutated
    if type(event) is Invoice.Observed:
        owner = event.snapshot.customer_id
        work.batch.owners.add((owner, aggregates[change.aggregate_id].invoice_id))
        work.world.invoices_by_customer.clear()


def _take_in(work: Work, outcome: Outcome) -> None:
    """Make the rest of an outcome visible to the commands after it, and note it to be written."""
    world, batch = work.world, work.batch
    for permit in outcome.permits:
        world.permits[permit.permit_id] = permit
        batch.permits[permit.permit_id] = permit
    for claim in outcome.names:
        _claim(work, claim)
    for contact in outcome.contacts:
        if work.trial is not None:
            work.trial.address(contact.address.fingerprint)
        batch.contacts[(contact.address.fingerprint, contact.customer_id)] = contact.address.text
        work.cache.addresses[contact.address.fingerprint] = contact.address.text
    for alert in outcome.alerts:
        batch.alerts.append((alert, world.now))
    if outcome.forget_addresses_of is not None:
        gone = outcome.forget_addresses_of
        customer = world.customer(gone)
        everyone = (gone, *(customer.absorbed if customer else ()))
        batch.forgotten.extend(everyone)
        for row in [row for row in batch.contacts if row[1] in everyone]:
            del batch.contacts[row]
        work.cache.addresses.clear()


def _claim(work: Work, claim: NameClaim) -> None:
    name = (claim.kind, claim.name)
    held = work.batch.names.get(name)
    if claim.replaces or work.world.names.get(name) is None:
        work.world.names[name] = claim.target
        if held is not None and held.replaces and not claim.replaces:
            claim = replace(claim, replaces=True)
        work.batch.names[name] = claim


async def _answer(work: Work, command: Command, outcome: Outcome) -> Answer:
    if isinstance(command, RequestPermit | Redeem):
        return await _decided(work, command, outcome)
    position = work.batch.position
    if outcome.denial is not None:
        body = answers.problem_body(outcome.denial, None, outcome.body)
        headers = answers.problem_headers(outcome.denial, work.world.now)
        return Answer(outcome.status, body, headers, "denied", position)
    if outcome.status == 403:
        return answers.plain_problem("forbidden", "only the granting key, or `operate`, may", 403)
    content = dict(outcome.body)
    if isinstance(command, ApplyFact) and command.answer_with_state:
        content.update(_invoice_state(work, outcome.invoice_id))
        content["applied"] = outcome.result in ("applied", "duplicate")
    content["position"] = str(position)
    if outcome.result:
        content.setdefault("result", outcome.result)
    body = answers.to_json(content)
    if isinstance(command, BindAnswer):
        bound = command.idempotency
        work.batch.bindings[bound.scope] = BindingRow(
            bound.scope, bound.fingerprint, None, command.status, command.body, work.world.now
        )
    warnings = tuple(("Ledger-Warning", warning) for warning in outcome.warnings)
    return Answer(outcome.status, body, warnings, outcome.result, position)


def _invoice_state(work: Work, invoice_id: str | None) -> dict[str, Any]:
    invoice = work.world.invoice(invoice_id) if invoice_id is not None else None
    latest = latest_snapshot(work.world, invoice)
    return invoice_view(invoice, work.world.now, work.world.policy, latest) if invoice else {}


async def _decided(work: Work, command: RequestPermit | Redeem, outcome: Outcome) -> Answer:
    """The answer to a decision, and its row in the decision log."""
    position = work.batch.position
    headers: tuple[tuple[str, str], ...] = ()
    stored: bytes
    sent: bytes
    if outcome.denial is not None:
        stored = sent = answers.problem_body(outcome.denial, command.decision_id, outcome.body)
        headers = answers.problem_headers(outcome.denial, work.world.now)
    elif outcome.status == 403:
        refused = answers.plain_problem(
            "forbidden", "only the granting key, or `operate`, may", 403
        )
        stored = sent = refused.body
    else:
        if outcome.replayed:
            stored = await _first_body(work, outcome)
            headers = (("Idempotent-Replayed", "true"),)
        else:
            stored = answers.grant_body(outcome, command.decision_id, position)
        address = outcome.address if command.caller.reads_addresses else None
        text = work.cache.addresses.get(address) if address is not None else None
        if text is None and address is not None:
            await load(work, Need(fingerprints={address}))
            text = work.cache.addresses.get(address)
        sent = answers.with_address(stored, text)
    if outcome.warnings:
        headers = (*headers, *(("Ledger-Warning", warning) for warning in outcome.warnings))
    row = decision_row(command, outcome, stored, work.world.now, position, work.policy_version)
    no = outcome.denial
    repeated = repeated_decision(work.tally, command.caller, outcome, row) if no else None
    if repeated is None:
        work.batch.decisions.append(row)
    elif no is not None:
        sent = answers.problem_body(no, repeated, outcome.body)
    if isinstance(command, RequestPermit) and outcome.status == 201:
        _bind(work, command, outcome, stored)
    permit_id = outcome.granted.permit_id if outcome.granted else None
    return Answer(outcome.status, sent, headers, "", position, permit_id)


async def _first_body(work: Work, outcome: Outcome) -> bytes:
    """The body that the grant had, for a replay of it."""
    assert outcome.granted is not None
    permit_id = outcome.granted.permit_id
    body = work.granted_bodies.get(permit_id)
    if body is None:
        found = await work.session.load(Need(answers={permit_id}))
        body = found.answers[permit_id]
    return body


def _bind(work: Work, command: RequestPermit, outcome: Outcome, stored: bytes) -> None:
    work.granted_bodies[command.decision_id] = stored
    if command.idempotency is None:
        return
    scope, fingerprint = command.idempotency.scope, command.idempotency.fingerprint
    now = work.world.now
    work.world.bindings[scope] = Binding(fingerprint, command.decision_id, now)
    work.batch.bindings[scope] = BindingRow(
        scope, fingerprint, command.decision_id, None, None, now
    )
