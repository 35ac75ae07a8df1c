"""Judges a torture run from what its clients heard and what the log holds; knows no rule's code."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain, pairwise

from tests.torture.history import Heard, Log, Send

FREED = frozenset({"rejected", "revoked", "expired"})
"""States that give a permit's place and its send key back."""
CLOCK_BOUND = timedelta(minutes=5)
"""So far may the database's clock be off without being found out (docs/settings.md)."""


def breaches(heard: list[Heard], log: Log, per_day: int) -> list[str]:
    """Everything that must not be, a sentence each; empty where all is well.

    `per_day` is how many mails that we start one customer may have in 24 hours; a run is shorter.
    """
    return list(
        chain(
            _sent_twice(heard),
            _granted_twice(heard, log),
            _past_the_cap(log, per_day),
            _lost(heard, log),
            _said_nothing_was_granted(heard, log),
            _said_no_and_kept_it(heard),
            _asked_for_paid_invoices(log),
            _out_of_time(log),
            _defects(heard),
        )
    )


def _sent_twice(heard: list[Heard]) -> Iterator[str]:
    """No send is handed over again but after a definite refusal of the provider."""
    handed: Counter[Send] = Counter(h.send for h in heard if h.act == "handed over")
    refused: Counter[Send] = Counter(h.send for h in heard if h.act == "refused")
    for send, times in handed.items():
        if times > 1 + refused[send]:
            yield f"{send} was handed over {times} times, refused {refused[send]} times"


def _granted_twice(heard: list[Heard], log: Log) -> Iterator[str]:
    """Of the permits for one send that clients heard of, each is freed before the next one."""
    granted = {grant.permit_id: grant.position for grant in log.granted}
    permits: defaultdict[Send, set[str]] = defaultdict(set)
    for one in heard:
        if one.act == "ask" and one.status in (200, 201) and one.permit_id in granted:
            permits[one.send].add(one.permit_id)
    freed: dict[str, int] = {}
    for end in log.ended:
        if end.state in FREED:
            freed.setdefault(end.permit_id, end.position)
    for send, ids in permits.items():
        order = sorted(ids, key=lambda id_: granted[id_])
        for earlier, later in pairwise(order):
            if freed.get(earlier, granted[later]) >= granted[later]:
                yield f"{send} was granted as {earlier} and, before that was freed, as {later}"


def _past_the_cap(log: Log, per_day: int) -> Iterator[str]:
    """At no position has a customer more mails that count than a day allows."""
    moves: list[tuple[int, str, str, int]] = []
    owner: dict[str, str] = {}
    for grant in log.granted:
        if grant.lane == "outreach":
            owner[grant.permit_id] = grant.customer_id
            moves.append((grant.position, grant.customer_id, grant.permit_id, 1))
    for end in log.ended:
        if end.permit_id in owner and end.state in FREED:
            moves.append((end.position, owner[end.permit_id], end.permit_id, -1))
    counting: defaultdict[str, set[str]] = defaultdict(set)
    for position, customer, permit_id, step in sorted(moves):
        if step < 0:
            counting[customer].discard(permit_id)
            continue
        counting[customer].add(permit_id)
        if len(counting[customer]) > per_day:
            yield f"{customer} has {len(counting[customer])} mails at position {position}"


def _lost(heard: list[Heard], log: Log) -> Iterator[str]:
    """What was acknowledged is in the log."""
    granted = {grant.permit_id for grant in log.granted}
    states = {(end.permit_id, end.state) for end in log.ended}
    for one in heard:
        if one.status not in (200, 201) or one.permit_id is None:
            if one.act == "pay" and one.status == 200 and one.send[1] not in log.paid:
                yield f"the payment of {one.send[1]} was taken and is not in the log"
            continue
        if one.act == "ask" and one.permit_id not in granted:
            yield f"{one.permit_id} was granted and is not in the log"
        if one.act == "redeem" and one.permit_id not in log.redeemed:
            yield f"{one.permit_id} was redeemed, and the log does not say so"
        if one.act == "report" and (one.permit_id, one.code) not in states:
            yield f"{one.permit_id} was reported {one.code}, and the log does not say so"


def _said_nothing_was_granted(heard: list[Heard], log: Log) -> Iterator[str]:
    """A redeem that was refused for certain is not in the log, unless another try brought it."""
    tries: defaultdict[str, list[Heard]] = defaultdict(list)
    for one in heard:
        if one.act == "redeem" and one.permit_id is not None:
            tries[one.permit_id].append(one)
    for permit_id, all_tries in tries.items():
        certain = all(one.committed == "no" for one in all_tries)
        if certain and permit_id in log.redeemed:
            yield f"{permit_id}: every redeem said that nothing happened, and it is in the log"


def _said_no_and_kept_it(heard: list[Heard]) -> Iterator[str]:
    """What was said not to have happened is not brought again by the same Idempotency-Key."""
    certain: dict[str, bool] = {}
    for one in heard:
        if one.act != "ask" or not one.call:
            continue
        if one.replayed and one.status in (200, 201) and certain.get(one.call, False):
            yield f"{one.permit_id} was granted by a try that had said that nothing was granted"
        certain[one.call] = certain.get(one.call, True) and one.committed == "no"


def _out_of_time(log: Log) -> Iterator[str]:
    """The log's time does not go back, and no grant is of a time that has not come."""
    for grant in log.granted:
        if grant.recorded_at > log.read_at + CLOCK_BOUND:
            yield f"{grant.permit_id} was granted at {grant.recorded_at}, which is yet to come"
    for earlier, later in pairwise(log.granted):
        if later.recorded_at < earlier.recorded_at:
            yield f"{later.permit_id} was granted at an earlier time than {earlier.permit_id}"


def _asked_for_paid_invoices(log: Log) -> Iterator[str]:
    """No reminder is granted for an invoice after the log knows that it was paid."""
    for grant in log.granted:
        for invoice in grant.invoices:
            if log.paid.get(invoice, grant.position) < grant.position:
                yield f"{grant.permit_id} reminds of {invoice}, which was paid before"


def _defects(heard: list[Heard]) -> Iterator[str]:
    """No answer is a 500."""
    for one in heard:
        if one.status == 500:
            yield f"{one.act} of {one.send} was answered 500"
