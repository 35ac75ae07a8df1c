"""Random histories of the whole ledger compared with the model, and five invariants."""

import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from ledger.application.answers import Answer
from ledger.application.commands import (
    CallResume,
    Command,
    DeclareIncident,
    EnterRecovery,
    Lapse,
    NoteGuardCheck,
    Redeem,
    ReportOutcome,
    RequestPermit,
)
from ledger.application.kinds.kind import PermitSubject
from tests.support import history_checks
from tests.support.build import CALLERS, OPERATOR
from tests.support.history_commands import (
    CALLER,
    LONG_STEPS,
    MAILS,
    SHORT_STEPS,
    START,
    beginnings,
    fact_command,
    facts,
    handlers,
    pauses,
    people,
    requests,
)
from tests.support.history_ledgers import HistoryLedger, MemoryLedger
from tests.support.model import Expected, Model
from tests.support.model_permits import LIVE
from tests.support.model_requests import take

LATER_THAN_ANY = 2**31
"""A guard check of this version started since every pause."""


class History(RuleBasedStateMachine):
    """Facts, requests, redeems, outcomes, lapses, people and the clock, in any order."""

    make_ledger: ClassVar[Any] = MemoryLedger

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.model = Model(START)
        self.ledger: HistoryLedger = type(self).make_ledger(START)
        self.asked: list[str] = []
        self.agreed = True
        self.subjects: list[PermitSubject] = []
        for name in ("F1", "F2"):
            when = (START - timedelta(days=2), START)
            declare = DeclareIncident(name, "flood", "a loop", *when, "ann", OPERATOR)
            assert self.ledger.submit([declare])[0].status == 201
            self.model.incidents.add(name)
        for fact in beginnings():
            self.check([fact_command(fact)])

    def teardown(self) -> None:
        """At the end everything is compared, and read again from the first event on."""
        try:
            if not self.agreed:
                return
            history_checks.same_as_model(self.ledger, self.model)
            history_checks.replay_gives_the_same(self.ledger)
            history_checks.windows_never_overflowed(self.ledger, self.model)
            history_checks.mailboxes_never_overflowed(self.ledger, self.model)
            assert Counter(self.ledger.decision_ids()) == Counter(self.asked)
        finally:
            self.ledger.close()

    @rule(step=SHORT_STEPS)
    def wait(self, step: timedelta) -> None:
        """Some minutes pass."""
        self._wait(step)

    @rule(step=LONG_STEPS)
    def wait_long(self, step: timedelta) -> None:
        """Hours or days pass."""
        self._wait(step)

    def _wait(self, step: timedelta) -> None:
        self.now += step
        self.model.now = self.now
        self.ledger.set_clock(self.now)

    @rule(data=st.data())
    def learn(self, data: st.DataObject) -> None:
        """A fact is told."""
        permits = list(self.model.holdings.permits)
        fact = data.draw(facts(self.now, permits, self.model.number + 1))
        self.check([fact_command(fact)])

    @rule(data=st.data(), count=st.sampled_from([1, 1, 1, 2, 3]))
    def ask(self, data: st.DataObject, count: int) -> None:
        """Permits are asked for, some in one transaction."""
        permits = list(self.model.holdings.permits)
        # The engine takes turns over callers, and keeps the order of each.
        by = st.just(data.draw(CALLER))
        self.check([data.draw(requests(self.now, permits, by=by)) for _ in range(count)])

    @precondition(lambda self: self.subjects)
    @rule(data=st.data())
    def ask_again(self, data: st.DataObject) -> None:
        """Somebody asks for what was asked for before: a retry, a replay, a loop, another agent."""
        subject = data.draw(st.sampled_from(self.subjects[-6:]))
        self.check([data.draw(requests(self.now, [], st.just(subject)))])

    @precondition(lambda self: self.model.holdings.permits)
    @rule(data=st.data())
    def mail(self, data: st.DataObject) -> None:
        """A sender takes its last permit to the end."""
        permit = list(self.model.holdings.permits.values())[-1]
        by = next(caller for caller in CALLERS if caller.key_id == permit.key_id)
        self.check([Redeem(permit.id, None, by, "", b"{}"), ReportOutcome(permit.id, "sent", by)])

    @precondition(lambda self: self.model.holdings.permits)
    @rule(data=st.data(), attempt=st.sampled_from([None, "a", "b"]))
    def redeem(self, data: st.DataObject, attempt: str | None) -> None:
        """A permit is redeemed, by its key or another."""
        permit_id, by = self._permit(data)
        self.check([Redeem(permit_id, attempt, by, "", b"{}")])

    @precondition(lambda self: self.model.holdings.permits)
    @rule(
        data=st.data(),
        outcome=st.sampled_from(["sent", "sent", "rejected", "unknown"]),
        mail=st.none() | MAILS,
    )
    def report(self, data: st.DataObject, outcome: str, mail: str | None) -> None:
        """A sender tells what became of its mail, and how the provider calls it."""
        permit_id, by = self._permit(data)
        self.check([ReportOutcome(permit_id, outcome, by, "resend", mail)])

    @precondition(lambda self: any(p.state in LIVE for p in self.model.holdings.permits.values()))
    @rule(data=st.data())
    def sweep(self, data: st.DataObject) -> None:
        """The sweeper visits a permit."""
        self.check([Lapse(self._permit(data)[0])])

    @precondition(lambda self: any(c.breaker for c in self.model.customers.values()))
    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """A human resets a breaker, releases an address, or calls a pause."""
        self.check([data.draw(people())])

    @precondition(lambda self: self.model.pauses or self.model.recovering)
    @rule()
    def resume(self) -> None:
        """A human lifts everything after a guard check."""
        name = f"check-{self.model.number}"
        note = NoteGuardCheck(name, self.now, LATER_THAN_ANY, (), OPERATOR)
        scopes = [*sorted(self.model.pauses), *(["recovery"] if self.model.recovering else [])]
        lift = [CallResume(scope, "well", "ann", name, OPERATOR) for scope in scopes]
        answers = self.ledger.submit([note, *lift])
        assert {answer.result for answer in answers} == {"applied"}
        self.model.pauses.clear()
        self.model.recovering = False

    @precondition(lambda self: len(self.model.holdings.permits) > 5)
    @rule()
    def recover(self) -> None:
        """The database turns out to be an older copy."""
        self.ledger.submit([EnterRecovery("an older copy", None)])
        self.model.recovering = True

    @rule(data=st.data())
    def pause(self, data: st.DataObject) -> None:
        """A human calls a pause."""
        self.check([data.draw(pauses())])

    def check(self, commands: list[Any]) -> None:
        """Submit the commands together and compare each answer with the model's."""
        commands = [self._numbered(command) for command in commands]
        before = self.ledger.position()
        answers = self.ledger.submit(commands)
        for command, answer in zip(commands, answers, strict=True):
            expected = take(self.model, command)
            heard = _heard(command, answer)
            self.agreed = self.agreed and heard == expected
            assert heard == expected, (f"{heard} is not {expected}", command, answer.body)
            if answer.status == 201:
                history_checks.held_once(self.ledger, self.model, command.decision_id)
        if len(commands) == 1:
            new = self.ledger.events(before)
            history_checks.denial_changed_nothing(commands[0], answers[0], new)

    def _numbered(self, command: Command) -> Command:
        if not isinstance(command, RequestPermit | Redeem):
            return command
        if isinstance(command, RequestPermit):
            self.subjects.append(command.subject)
        self.asked.append(str(UUID(int=len(self.asked) + 1)))
        return replace(command, decision_id=self.asked[-1])

    def _permit(self, data: st.DataObject) -> tuple[str, Any]:
        permits = self.model.holdings.permits
        permit_id = data.draw(st.sampled_from(list(permits)[-8:]))
        key_id = permits[permit_id].key_id
        assert key_id in {caller.key_id for caller in CALLERS}
        return permit_id, data.draw(handlers(key_id))


def _heard(command: Command, answer: Answer) -> Expected:
    """What was answered, in the words of the model."""
    body = json.loads(answer.body)
    if isinstance(command, RequestPermit) and answer.status == 201 and body["items"]:
        items = tuple(
            (i["invoice_id"], i["stage"], tuple(i["supersedes"]), i["amount_remaining"])
            for i in body["items"]
        )
        return Expected(201, items=items)
    if isinstance(command, RequestPermit | Redeem | ReportOutcome):
        return Expected(answer.status, None if answer.status == 403 else body.get("code"))
    if answer.status != 200:
        return Expected(answer.status, body.get("code"))
    told = answer.result if hasattr(command, "fact") else None
    return Expected(result=told)
