"""Random merges and partings: whatever the order, nobody gets a mail that they had as whoever.

The model knows for each id which mails its customer has had, under that id or as one with others,
and of which mails they got a copy.
"""

import os
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from hypothesis import event, given, settings
from hypothesis import strategies as st

from ledger.application.views import customer_view
from ledger.domain.policy import Policy
from tests.support.build import (
    AGENT,
    customer,
    digest,
    merged,
    minutes,
    notification,
    report,
    unmerged,
)
from tests.support.given import START, Scenario

Step: TypeAlias = tuple[str, str, str, str]
"""What happens, to which customer, with which other customer or event, and with which outcome."""
NAMES = ("cus_1", "cus_2", "cus_3", "cus_4")
EVENTS = ("e1", "e2", "2026-12-04")
"""Two that are notified of, and the day of a digest."""
POLICY = Policy(outreach_per_day=1000, rejections_before_hold=1000)
EXAMPLES = 3_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 250

names = st.sampled_from(NAMES)
steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("note"),
            names,
            st.sampled_from(EVENTS),
            st.sampled_from(("sent", "sent", "rejected", "unknown", "")),
        ),
        st.tuples(
            st.sampled_from([f"copy to {name}" for name in NAMES]),
            names,
            st.sampled_from(EVENTS),
            st.sampled_from(("sent", "rejected", "")),
        ),
        st.tuples(st.just("merge"), names, names, st.just("")),
        st.tuples(st.just("part"), names, names, st.just("")),
        st.tuples(st.just("wait"), st.just(""), st.just(""), st.sampled_from(("5", "600", "1500"))),
    ),
    min_size=4,
    max_size=30,
)


@dataclass
class Mail:
    """A mail that was granted, and from when it counts."""

    event: str
    at: datetime
    free: bool = False


@dataclass
class Model:
    """Who went into whom, and what each id has had: `known` for send keys, `got` for windows."""

    into: dict[str, str] = field(default_factory=dict)
    known: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in NAMES})
    got: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in NAMES})
    mails: dict[str, Mail] = field(default_factory=dict)

    def chain(self, name: str) -> list[str]:
        """The customer, and those that they went into, one after the other."""
        found = [name]
        while found[-1] in self.into:
            found.append(self.into[found[-1]])
        return found

    def group(self, name: str) -> list[str]:
        """Every id of the customer that this one is now."""
        root = self.chain(name)[-1]
        return [other for other in NAMES if self.chain(other)[-1] == root]

    def has_had(self, name: str, about: str) -> bool:
        """Is the send taken for the customer that this one is now?"""
        known = set[str]().union(*(self.known[other] for other in self.group(name)))
        return any(self.mails[m].event == about and not self.mails[m].free for m in known)

    def granted(
        self, name: str, about: str, permit_id: str, at: datetime, copy_to: str | None
    ) -> None:
        """All who are this customer now have had the mail; who gets a copy counts it as well."""
        self.mails[permit_id] = Mail(about, at)
        for other in self.group(copy_to) if copy_to is not None else ():
            self.got[other].add(permit_id)
        for other in self.group(name):
            self.known[other].add(permit_id)
            self.got[other].add(permit_id)

    def merge(self, gone: str, into: str) -> str:
        """From now on each has had what the other one had."""
        gone, into = self.chain(gone)[-1], self.chain(into)[-1]
        if gone == into:
            return "ignored"
        self.into[gone] = into
        group = self.group(into)
        had = set[str]().union(*(self.known[other] for other in group))
        for other in group:
            self.known[other] |= had
        return "applied"

    def part(self, gone: str, other: str) -> str:
        """What they had stays theirs."""
        if other not in self.chain(gone)[1:]:
            return "ignored"
        del self.into[gone]
        return "applied"


@settings(max_examples=EXAMPLES)
@given(steps)
def test_nobody_gets_a_mail_again_that_they_had_as_whoever(history: list[Step]) -> None:
    scenario, model = Scenario(POLICY, START), Model()
    scenario.when(*(customer(name, _address_of(name)) for name in NAMES))
    for step in history:
        scenario.when(minutes(1))
        _take(scenario, model, step)
        _windows_hold(scenario, model)
    event(f"{sum(what == 'part' for what, *_ in history)} partings told")


def _take(scenario: Scenario, model: Model, step: Step) -> None:
    what, name, other, outcome = step
    if what == "wait":
        scenario.when(timedelta(minutes=int(outcome)))
    elif what == "merge":
        scenario.when(merged(name, other))
        assert scenario.answer.result == model.merge(name, other)
    elif what == "part":
        scenario.when(unmerged(name, other))
        assert scenario.answer.result == model.part(name, other)
    else:
        copy_to = what.removeprefix("copy to ") if what != "note" else None
        _note(scenario, model, name, other, outcome, copy_to)


def _note(
    scenario: Scenario, model: Model, name: str, about: str, outcome: str, copy_to: str | None
) -> None:
    had = model.has_had(name, about)
    ask = notification if about.startswith("e") else digest
    cc = (_address_of(copy_to),) if copy_to is not None else ()
    scenario.when(ask(about, customer=name, by=AGENT, cc=cc))
    assert (scenario.answer.status != 201) == had, scenario.answer.body
    if had:
        event(str(scenario.body["code"]))
        return
    permit_id = scenario.granted[-1]
    model.granted(name, about, permit_id, scenario.store.now, copy_to)
    if outcome:
        scenario.when(report(outcome, by=AGENT))
    model.mails[permit_id].free = outcome == "rejected"


def _address_of(name: str) -> str:
    return f"{name}@x.example"


def _windows_hold(scenario: Scenario, model: Model) -> None:
    """Each customer's window counts at least what was sent to them, alone or as one with others."""
    now, replayed = scenario.store.now, scenario.store.replay()
    customers: dict[str, Any] = {
        aggregate.customer_id: aggregate
        for aggregate in replayed.values()
        if getattr(aggregate, "customer_id", None) in NAMES
    }
    for name in NAMES:
        if name not in customers or name in model.into:
            continue
        ids = set(model.group(name))
        assert {name, *customers[name].absorbed} >= ids
        counted = {
            permit_id
            for permit_id in model.got[name]
            if not model.mails[permit_id].free and model.mails[permit_id].at > now - timedelta(1)
        }
        view = customer_view(customers[name], [], now, POLICY)
        assert view["windows"]["outreach_24h"]["used"] >= len(counted)
        assert set(view["merged"]) <= ids - {name}
