"""Judges a request once more, guard by guard, in a world as it was: why was this the answer? (D11)

The guards, their order and the final answer are those of the decision itself; here each one says
aloud what it found.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from ledger.application.commands import Redeem, RequestPermit
from ledger.application.effects import Outcome
from ledger.application.key_obstacles import customer_obstacle, key_obstacle, subject_obstacle
from ledger.application.kinds.kind import Ask, Judged
from ledger.application.lost_sends import judged_by_record, used_as_a_whole
from ledger.application.permit_decision import request_permit
from ledger.application.permit_life import may_handle, not_redeemable, overtaken, redeem
from ledger.application.world import World
from ledger.domain.guards import (
    CUSTOMER_GUARDS,
    SUBJECT_GUARDS,
    Case,
    CustomerGuard,
    Subject,
    SubjectGuard,
    final_duplicate,
)
from ledger.domain.permit import Permit
from ledger.domain.reasons import Denial
from ledger.domain.value import value

PASSED, DENIED, NOT_JUDGED = "passed", "denied", "not_judged"
_CALLER = "The key's limits exclude it, its job's lease is another's, or its override was used."
_CUSTOMER_LIMIT = "The key may not ask for mail to this customer."
_MISDIRECTED = "The mail would not go to the address that the request names."
_SUBJECT_LIMIT = "The key may not ask for this stage."


@value
class Verdict:
    """What one guard said: `about` names the send key that it judged, None the mail as a whole.

    `denies_when` is its rule. A guard behind one that denied was not judged.
    """

    guard: str
    denies_when: str
    about: str | None
    verdict: str
    code: str | None = None
    detail: str | None = None
    available_at: datetime | None = None


@dataclass(slots=True)
class Judgement:
    """Every guard's verdict in order, and the answer that they come to (`code` None: yes).

    `changes` is how many events the decision writes.
    """

    verdicts: list[Verdict]
    status: int
    code: str | None
    detail: str | None
    changes: int


@dataclass(slots=True)
class _Review:
    """The verdicts so far, and whether a guard has denied."""

    verdicts: list[Verdict] = field(default_factory=list)
    decided: bool = False

    def ask(
        self, guard: str, rule: str, about: str | None, judge: Callable[[], Denial | None]
    ) -> None:
        """Let a guard judge, unless one before it has denied."""
        if self.decided:
            self.verdicts.append(Verdict(guard, rule, about, NOT_JUDGED))
            return
        denial = judge()
        self.decided = denial is not None
        if denial is None:
            self.verdicts.append(Verdict(guard, rule, about, PASSED))
        else:
            found = (DENIED, denial.code, denial.detail, denial.available_at or denial.frees_at)
            self.verdicts.append(Verdict(guard, rule, about, *found))


def judge_request(world: World, command: RequestPermit) -> Judgement:
    """The guards of a request for a permit, in the order of design D12. Changes nothing.

    Raises NotLoaded like the decision itself.
    """
    review = _Review()
    review.ask("caller", _CALLER, None, lambda: key_obstacle(world, command))
    ask = None if review.decided else command.subject.ask(world, command)
    if isinstance(ask, Denial):
        refused: Denial = ask
        review.ask("request", "It cannot be about anything that is known.", None, lambda: refused)
        ask = None
    if ask is not None and command.caller.limits is not None:
        named: Ask = ask
        limit = partial(customer_obstacle, world, command, named)
        review.ask("key_limits", _CUSTOMER_LIMIT, None, limit)
        ask = None if review.decided else named
    if ask is not None and ask.misdirected is not None:
        wrong: Denial = ask.misdirected
        review.ask("request", _MISDIRECTED, None, lambda: wrong)
        ask = None
    if ask is None:
        review.verdicts.extend(not_judged())
    else:
        _judge_subjects(review, world, command, ask)
        for guard in CUSTOMER_GUARDS:
            review.ask(guard.__name__, _rule(guard), None, _bound(guard, ask.case))
    return _judgement(review, request_permit(world, command))


def not_judged() -> list[Verdict]:
    """The table of guards where something before them gave the answer."""
    guards: tuple[Callable[..., object], ...] = (*SUBJECT_GUARDS, *CUSTOMER_GUARDS)
    return [Verdict(guard.__name__, _rule(guard), None, NOT_JUDGED) for guard in guards]


def _judge_subjects(review: _Review, world: World, command: RequestPermit, ask: Ask) -> None:
    """A send key that a guard denies is withheld; the others are judged all the same."""
    passed: list[Judged] = []
    for subject, judged in zip(
        ask.subjects, judged_by_record(world, ask, command.subject), strict=True
    ):
        review.decided = False
        for guard in SUBJECT_GUARDS:
            name, rule = guard.__name__, _rule(guard)
            review.ask(name, rule, subject.ref, _bound_to(guard, ask.case, judged))
        if command.caller.limits is not None:
            limit = partial(subject_obstacle, command, subject)
            review.ask("key_limits", _SUBJECT_LIMIT, subject.ref, limit)
        if not review.decided:
            passed.append(subject)
    review.decided = not passed
    if passed and world.control.lost_sends:
        command.subject.narrow(ask, passed)
        name, rule = final_duplicate.__name__, _rule(final_duplicate)
        review.ask(name, rule, None, lambda: used_as_a_whole(world, ask, command, passed[0]))


def judge_redeem(world: World, command: Redeem) -> Judgement:
    """What a redeem looks at, in its order. Changes nothing; raises NotLoaded."""
    review = _Review()
    permit = world.permit(command.permit_id)

    def of_permit(judge: Callable[[Permit], Denial | None]) -> Callable[[], Denial | None]:
        return lambda: judge(permit) if permit is not None else None

    def known() -> Denial | None:
        if permit is not None:
            return None
        lost = world.control.recovery_since is not None
        code = "recovery_mode" if lost else "unknown_permit"
        return Denial(code, "there is no such permit")

    def forbidden(held: Permit) -> Denial | None:
        may = may_handle(command.caller, held)
        return None if may else Denial("forbidden", "only the granting key, or operate, may")

    def recovering(held: Permit) -> Denial | None:
        if world.control.recovery_since is None or held.synthetic:
            return None
        return Denial("recovery_mode", "the ledger was restored and waits for a human")

    def revoked(held: Permit) -> Denial | None:
        why = overtaken(world, held)
        return Denial("revoked", why) if why is not None else None

    def redeemable(held: Permit) -> Denial | None:
        return not_redeemable(held, command.attempt)

    review.ask("known", "There is no such permit.", None, known)
    review.ask("granting_key", "Another key was granted it.", None, of_permit(forbidden))
    review.ask("state", "It is not to be redeemed any more.", None, of_permit(redeemable))
    review.ask("recovery", "The ledger is in recovery mode.", None, of_permit(recovering))
    review.ask("facts_since", "Something since the grant takes it back.", None, of_permit(revoked))
    return _judgement(review, redeem(world, command))


def _judgement(review: _Review, outcome: Outcome) -> Judgement:
    denial = outcome.denial
    code, detail = (denial.code, denial.detail) if denial is not None else (None, None)
    return Judgement(review.verdicts, outcome.status, code, detail, len(outcome.changes))


def _bound(guard: CustomerGuard, case: Case) -> Callable[[], Denial | None]:
    return lambda: guard(case)


def _bound_to(guard: SubjectGuard, case: Case, subject: Subject) -> Callable[[], Denial | None]:
    return lambda: guard(case, subject)


def _rule(guard: Callable[..., object]) -> str:
    """The first line of the guard's own description."""
    return (guard.__doc__ or "").strip().splitlines()[0]
