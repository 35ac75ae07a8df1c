"""The flows of a send: ask, redeem, hand over, report. Generators that do no I/O themselves."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic

from sendledger.calls import (
    Report,
    ask_call,
    claim_call,
    granted_in,
    no_of,
    outcome_calls,
    redeem_call,
    redeemed_in,
)
from sendledger.delivery import Classify
from sendledger.effects import Call, Do, Flow, HandOver, NoAnswer, Pause, Reply, T
from sendledger.errors import Denied, Unavailable
from sendledger.kinds import Ask
from sendledger.observing import Hooks, OutcomeRecord, log
from sendledger.pace import Deadline, Pace
from sendledger.permit import Granted, Outcome, Permit
from sendledger.spool import Spool

_LEAST_TIMEOUT = 0.05
_BETWEEN_FLUSHES = 30.0
_IN_PASSING = 2.0
"""Seconds for a report that something else waits for: a question, or who stopped the program."""
_ASK_AGAIN = frozenset({401, 408, 429})
"""4xx that do not refuse a report for good: the key may be put right."""


@dataclass(frozen=True)
class SendResult(Generic[T]):
    """What `send_once` came to.

    `duplicate`: the mail went out before, and nothing was sent now; the other fields are then what
    the ledger knows of the first send. `value` is what the sender's function returned, None for a
    duplicate. `state` is `sent`, or what the function itself told.
    """

    permit_id: str | None
    state: str
    provider_message_id: str | None
    duplicate: bool
    value: T | None = None
    sent_at: datetime | None = None
    sender: str | None = None


class Flows:
    """Every flow of one client, with what they share."""

    def __init__(
        self, pace: Pace, hooks: Hooks, spool: Spool | None, classify: Classify | None
    ) -> None:
        self.pace, self.hooks, self.spool, self.classify = pace, hooks, spool, classify
        self._flushed_at: float | None = None

    def exchange(self, call: Call, seconds: float | None = None) -> Flow[Reply]:
        """The final answer to a call that may be repeated, tried until the deadline.

        Raises Unavailable where there is none.
        """
        deadline = Deadline(self.pace, self.pace.deadline if seconds is None else seconds)
        number = 0
        while True:
            number += 1
            timeout = max(_LEAST_TIMEOUT, min(self.pace.per_call, deadline.left()))
            answer = yield replace(call, number=number, timeout=timeout)
            wait = self.pace.wait(answer, number)
            if wait is None:
                assert isinstance(answer, Reply)
                warning = answer.headers.get("ledger-warning")
                if warning:
                    log.info("the ledger warns of the %s: %s", call.operation, warning)
                return answer
            if wait >= deadline.left():
                raise Unavailable(answer.why) if isinstance(answer, NoAnswer) else no_of(answer)
            if number == 1:
                why = answer.why if isinstance(answer, NoAnswer) else f"status {answer.status}"
                log.warning(
                    "the ledger did not answer the %s (%s); asking again for up to %.0f seconds",
                    call.operation,
                    why,
                    deadline.left(),
                )
            yield Pause(wait)

    def ask(self, ask: Ask) -> Flow[Granted]:
        """A permit, not yet redeemed. Raises Denied or Unavailable."""
        yield from self._flush_if_time()
        asked_at = self.pace.clock()
        reply = yield from self.exchange(ask_call(ask, uuid.uuid4().hex))
        return Granted(granted_in(reply), asked_at, ask)

    def redeem(self, granted: Granted) -> Flow[Permit]:
        """The right to hand the mail over now. Raises Denied or Unavailable.

        A yes that was not heard, or came after `send_by`, is given back: the mail was not sent.
        """
        granted.use()
        attempt = uuid.uuid4().hex
        try:
            reply = yield from self.exchange(redeem_call(granted.permit_id, attempt))
            redeemed = redeemed_in(reply, granted.permit_id)
        except (Denied, Unavailable) as error:
            # An earlier try may have been a yes, whose answer was lost.
            if isinstance(error, Unavailable) or error.code == "rate_limited":
                yield from self._report_unsent(granted, "no answer to redeem")
            raise
        except GeneratorExit:
            raise
        except BaseException:
            # Cancelled, or interrupted: the mail was certainly not handed over.
            yield from self._report_unsent(granted, "stopped before the hand-over", _IN_PASSING)
            raise
        permit = Permit(granted, redeemed, self.classify, self._noted, self.pace.clock)
        if not permit.in_time:
            yield from self._report_unsent(granted, "redeemed too late")
            raise Unavailable("the answer to redeem came after send_by")
        if self.spool is not None:
            self.spool.handing_over(permit.permit_id)
        return permit

    def give_back(self, granted: Granted) -> Flow[bool]:
        """Report that a permit was not used; True once the ledger has heard it."""
        granted.use()
        return (yield from self._report_unsent(granted, "not sent"))

    def _report_unsent(
        self, granted: Granted, detail: str, seconds: float | None = None
    ) -> Flow[bool]:
        body = Outcome("rejected", detail).body()
        if self.spool is not None:
            self.spool.outcome(granted.permit_id, body)
        kind = _kind(granted.body)
        return (yield from self._report_one(granted.permit_id, body, kind, seconds))

    def block(self, ask: Ask) -> Flow[None]:
        """Ask, redeem, let the caller's block hand over, report what became of it."""
        granted = yield from self.ask(ask)
        yield from self.redeemed_block(granted)

    def redeemed_block(self, granted: Granted) -> Flow[None]:
        """The same for a permit that was asked for before."""
        permit = yield from self.redeem(granted)
        error = yield HandOver(permit)
        permit.left(error)
        yield from self.report(permit)

    def send_once(self, ask: Ask, send: Callable[[Permit], Any]) -> Flow[SendResult[Any]]:
        """Send by the function, unless the mail went out before: then say what is known of it.

        Raises Denied for every other no, and whatever the function raises.
        """
        try:
            granted = yield from self.ask(ask)
        except Denied as denied:
            if denied.is_duplicate:
                return _first_send(denied)
            raise
        permit = yield from self.redeem(granted)
        try:
            value = yield Do(send, permit)
        except GeneratorExit:
            raise
        except BaseException as error:
            permit.left(error)
            yield from self.report(permit)
            raise
        if permit.outcome is None:
            permit.sent(value)
        yield from self.report(permit)
        told = permit.outcome
        assert told is not None
        provider_id = told.delivered.provider_message_id
        return SendResult(permit.permit_id, told.state, provider_id, False, value)

    def due(self, limit: int, stage: str | None) -> Flow[None]:
        """Claim what is due, hand each permit over in turn, report each; no send comes twice.

        A mail that is refused is due again at once; it is left for a later run. A permit that was
        claimed and not used lapses: to report it as rejected would count against its send.
        """
        yield from self._flush_if_time()
        seen: set[str] = set()
        while True:
            asked_at = self.pace.clock()
            reply = yield from self.exchange(claim_call(limit, stage, uuid.uuid4().hex))
            page = [Granted(body, asked_at) for body in _claimed(reply)]
            _warn_of_withheld(reply)
            fresh = [one for one in page if _sends(one).isdisjoint(seen)]
            for granted in fresh:
                seen |= _sends(granted)
                gone = yield from self._due_one(granted)
                if gone:
                    return
            if len(fresh) < limit:
                return

    def _due_one(self, granted: Granted) -> Flow[bool]:
        """Hand one permit over; True where the caller has left the loop."""
        try:
            permit = yield from self.redeem(granted)
        except Denied as denied:
            log.info("permit %s is not redeemed: %s", granted.permit_id, denied.code)
            return False
        error = yield HandOver(permit)
        permit.left(None if isinstance(error, GeneratorExit) else error)
        yield from self.report(permit)
        return error is not None

    def report(self, permit: Permit) -> Flow[bool]:
        """Tell the ledger the permit's outcome; True once it has heard it. Raises nothing."""
        if permit.outcome is None:
            return False
        return (yield from self._report_one(permit.permit_id, permit.outcome.body(), permit.kind))

    def flush(self, seconds: float | None = None) -> Flow[int]:
        """Report what the spool has, each within so many seconds; how many are left.

        It stops at the first that is not heard: the ledger is away.
        """
        if self.spool is None:
            return 0
        self._flushed_at = self.pace.clock()
        left = self.spool.leftovers()
        while left:
            name, body = left[0]
            if not (yield from self._report_one(name, body, "", seconds)):
                break
            left.pop(0)
        return len(left)

    def plain(self, call: Call) -> Flow[Any]:
        """The body of any other call's 2xx. Raises Denied or Unavailable."""
        reply = yield from self.exchange(call)
        if not 200 <= reply.status < 300:
            raise no_of(reply)
        return reply.body

    def _flush_if_time(self) -> Flow[None]:
        last, now = self._flushed_at, self.pace.clock()
        if self.spool is not None and (last is None or now - last >= _BETWEEN_FLUSHES):
            yield from self.flush(_IN_PASSING)

    def _noted(self, permit: Permit) -> None:
        if self.spool is not None and permit.outcome is not None:
            self.spool.outcome(permit.permit_id, permit.outcome.body())

    def _report_one(
        self, permit_id: str, body: Mapping[str, Any], kind: str, seconds: float | None = None
    ) -> Flow[bool]:
        heard = yield from self._report_all([(permit_id, body)], seconds)
        state, detail = str(body["outcome"]), body.get("detail")
        self.hooks.on_outcome(OutcomeRecord(permit_id, kind, state, detail, bool(heard)))
        return bool(heard)

    def _report_all(
        self, reports: Iterable[Report], seconds: float | None = None
    ) -> Flow[list[str]]:
        """The permits whose outcome the ledger has heard, or has refused for good."""
        limit = self.pace.report_deadline if seconds is None else seconds
        heard: list[str] = []
        for carried, call in outcome_calls(reports):
            settled = False
            try:
                reply = yield from self.exchange(call, limit)
                if reply.status == 422:
                    # Better a bare outcome than none.
                    bare = replace(call, body={"outcome": (call.body or {})["outcome"]})
                    reply = yield from self.exchange(bare, limit)
                settled = _is_settled(reply)
            except Denied as denied:
                log.warning("an outcome is not reported: %s", denied.code)
            except Unavailable as error:
                log.warning("an outcome is not reported: %s", error.why)
            finally:
                for permit_id, _ in carried:
                    if self.spool is not None:
                        (self.spool.done if settled else self.spool.unreported)(permit_id)
            heard += [permit_id for permit_id, _ in carried if settled]
        return heard


def _is_settled(reply: Reply) -> bool:
    """Has the ledger taken the outcome, or said that it never will?"""
    if reply.status == 200:
        return True
    log.error("an outcome is not taken: %s", reply.problem.get("code") or reply.status)
    final = 400 <= reply.status < 500 and reply.status not in _ASK_AGAIN
    return final and bool(reply.problem)


def _claimed(reply: Reply) -> list[Mapping[str, Any]]:
    found = reply.body.get("permits") if isinstance(reply.body, dict) else None
    if reply.status != 200 or not isinstance(found, list):
        raise no_of(reply)
    return [one for one in found if isinstance(one, dict) and isinstance(one.get("permit_id"), str)]


def _warn_of_withheld(reply: Reply) -> None:
    """Say once a claim that somebody is due and gets no mail now, as during a pause."""
    withheld = reply.body.get("withheld") if isinstance(reply.body, dict) else None
    if isinstance(withheld, list) and withheld:
        codes = sorted({str(one.get("code")) for one in withheld if isinstance(one, dict)})
        log.warning("%d customers are due and get no mail now: %s", len(withheld), ", ".join(codes))


def _sends(granted: Granted) -> set[str]:
    """What a reminder is for: invoice, cycle and stage, each as one text."""
    items = granted.body.get("items") or []
    named = {f"{i.get('invoice_id')}\n{i.get('cycle')}\n{i.get('stage')}" for i in items}
    return named or {granted.permit_id}


def _kind(body: Mapping[str, Any]) -> str:
    return str(body.get("kind", ""))


def _first_send(denied: Denied) -> SendResult[Any]:
    first = denied.original
    if first is None:
        return SendResult(denied.permit_id, "sent", None, True)
    return SendResult(
        first.permit_id or denied.permit_id,
        "sent",
        first.provider_message_id,
        True,
        sent_at=first.sent_at,
        sender=first.sender,
    )
