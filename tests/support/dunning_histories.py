"""Random histories of a few invoices and customers: facts, requests, outcomes, clock steps."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TypeAlias

from hypothesis import strategies as st

from ledger.application.commands import Lapse, NoteFeedSilence, ReleaseAddress, ResetBreaker
from ledger.domain.balance import Status
from ledger.domain.policy import Policy, Stage
from tests.support import build
from tests.support.given import Scenario, Step

AboutPermit: TypeAlias = tuple[str, int]
"""What happens to a permit, and which: counted from the one granted last."""
START = datetime(2026, 10, 20, 9, 30, tzinfo=UTC)
"""Summer time ends in many places within a fortnight."""

INVOICES = ("inv_1", "inv_2", "inv_3", "inv_4")
CUSTOMERS = ("cus_1", "cus_2", "cus_3")
EMAILS = ("pat@example.com", "sam@example.com", "kim@example.com", None)
ZONES = (
    None,
    "UTC",
    "America/Havana",
    "America/Santiago",
    "Asia/Tokyo",
    "CET",
    "Europe/Berlin",
    "Pacific/Auckland",
)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Ladders of up to four stages, floors in any order, and every choice `due` depends on."""
    days = draw(st.lists(st.integers(1, 16), min_size=1, max_size=4, unique=True).map(sorted))
    floors = draw(
        st.lists(st.sampled_from((0, 10, 25, 60)), min_size=len(days), max_size=len(days))
    )
    ladder = tuple(Stage(f"day-{d}", d, f) for d, f in zip(days, floors, strict=True))
    default = Policy()
    return Policy(
        time_zone=draw(st.sampled_from(ZONES[1:])),
        stages=draw(st.sampled_from((default.stages, ladder))),
        days_between_reminders=draw(st.sampled_from((3, 0, 1, 6))),
        catch_up=draw(st.sampled_from(("highest", "next"))),
        adopt_before=draw(st.sampled_from((None, None, date(2026, 10, 20), date(2026, 10, 28)))),
        age_from_issue_without_due_date=draw(st.booleans()),
        smallest_amount_to_dun=draw(st.sampled_from(({}, {"USD": 2_000}, {"JPY": 0, "USD": 1}))),
        outreach_per_day=draw(st.integers(1, 3)),
        rejections_before_hold=draw(st.integers(1, 3)),
        payment_in_flight_days=draw(st.sampled_from((7, 1))),
        days_between_reminder_mails=draw(st.sampled_from((1, 1, 2, 3, 9))),
        snapshot_max_age=draw(st.sampled_from((0, 0, 2, 12))),
        remind_after_subscription_end=draw(st.booleans()),
    )


def moments() -> st.SearchStrategy[datetime]:
    """Moments around the start, also in the past, on whole hours so that some coincide."""
    return st.integers(-400, 400).map(
        lambda hours: START.replace(minute=0) + timedelta(hours=hours)
    )


def days_near() -> st.SearchStrategy[date]:
    """Calendar days around the start."""
    return st.integers(-20, 6).map(lambda days: START.date() + timedelta(days=days))


invoices, customers = st.sampled_from(INVOICES), st.sampled_from(CUSTOMERS)
_plain_snapshots = st.builds(
    build.invoice,
    invoices,
    customers,
    due=st.one_of(days_near().map(str), st.none()),
    owes=st.sampled_from((30_000, 9_000, 3_000, 1_500, 0)),
    total=st.just(30_000),
    currency=st.sampled_from(("USD", "JPY")),
    status=st.sampled_from((*[Status.OPEN] * 6, *Status)),
    issued=st.one_of(st.just(build.UNSET), days_near().map(str)),
    zone=st.sampled_from(ZONES),
    email=st.one_of(st.just(build.UNSET), st.sampled_from(EMAILS)),
)
snapshots = st.builds(
    lambda said, over, second: replace(said, nothing_in_flight=over, whole_second=second),
    _plain_snapshots,
    st.booleans(),
    st.booleans(),
)
money = st.one_of(
    st.builds(
        build.paid,
        st.sampled_from((30_000, 27_000, 1_000)),
        invoices,
        st.sampled_from(("pay_1", "pay_2")),
        st.sampled_from(("pending", "succeeded", "failed", "reversed")),
    ),
    st.builds(build.credit, st.sampled_from((5_000, -5_000, 30_000)), invoices),
    st.builds(
        build.customer_credit,
        st.sampled_from((7_500, 60_000, -60_000, 0)),
        customers,
        st.sampled_from(("cre_1", "cre_2")),
        st.sampled_from(("USD", "USD", "JPY")),
    ),
)
until = st.one_of(st.none(), moments().map(str))
reasons = st.sampled_from(("dispute", "promise"))
suppressions = st.sampled_from(("bounced", "unsubscribed", "blocked"))
addresses = st.sampled_from([e for e in EMAILS if e])
kinds = st.sampled_from(((), ("reminder",), ("reply",)))
holds = st.one_of(
    st.builds(build.hold, reasons, invoices, until),
    st.builds(build.unhold, reasons, invoices),
    st.builds(build.customer_hold, customers, reasons, until, kinds),
    st.builds(build.customer_unhold, customers, reasons),
    st.builds(build.address_hold, addresses, suppressions, until, kinds),
    st.builds(build.address_unhold, addresses, suppressions, kinds),
)
people = st.one_of(
    st.builds(build.customer, customers, st.sampled_from([e for e in EMAILS if e])),
    st.builds(build.merged, customers, customers),
    st.builds(build.unmerged, customers, customers),
    st.builds(
        lambda when, customer, invoice, stage: build.observed_send(
            str(when), customer, invoice, stage
        ),
        moments(),
        customers,
        st.one_of(st.none(), invoices),
        st.sampled_from((None, "day-3", "day-7")),
    ),
)
asks = st.one_of(
    st.builds(
        build.reminder,
        invoices,
        by=st.sampled_from((build.POLLER, build.AGENT)),
        redeem=st.booleans(),
    ),
    st.builds(build.reminder, invoices, invoices, claim=st.just(True)),
    st.builds(build.notification, st.sampled_from("abcdef"), customer=customers),
)
about_permits = st.sampled_from(
    ("redeem", "sent", "corrected", "rejected", "unknown", "bounced", "complained", "delivered")
)
by_people = st.one_of(
    st.builds(ResetBreaker, customers, st.just("ann"), st.just("looked"), st.just(build.OPERATOR)),
    st.builds(ReleaseAddress, customers, st.just("ann"), st.just("ok"), st.just(build.OPERATOR)),
)
subscriptions = st.builds(
    build.subscription_told,
    st.sampled_from(("sub_1", "sub_2", "sub_3")),
    customers,
    st.sampled_from((True, True, False)),
    st.lists(invoices, max_size=2).map(tuple),
    when=until,
)
silences = st.builds(
    NoteFeedSilence, st.sampled_from(("billing", "shop")), st.just(START - timedelta(days=9))
)
clock_steps = st.one_of(
    st.sampled_from((5, 11, 59, 24 * 60)).map(build.minutes),
    st.integers(1, 5).map(build.days),
    st.integers(1, 30).map(build.hours),
)
overdue = st.builds(
    build.invoice,
    invoices,
    customers,
    due=st.integers(-16, -2).map(lambda days: str(START.date() + timedelta(days=days))),
    owes=st.sampled_from((30_000, 30_000, 7_500, 3_000)),
    total=st.just(30_000),
    zone=st.sampled_from(ZONES),
    email=st.sampled_from(EMAILS),
)
later_steps = st.lists(
    st.one_of(snapshots, asks, asks, asks, clock_steps, money, holds, people, by_people)
    | silences
    | subscriptions
    | st.builds(build.fact, snapshots | money, source=st.just("billing"))
    | st.tuples(about_permits, st.integers(0, 3)),
    max_size=20,
)
histories = st.builds(
    lambda first, then: [*first, *then],
    st.lists(
        overdue | st.builds(build.fact, overdue, source=st.just("billing")), min_size=2, max_size=5
    ),
    later_steps,
)
"""Some invoices that are overdue, and what happens then."""


def play(scenario: Scenario, history: list[Step | AboutPermit]) -> None:
    """Let all of it happen; what concerns a permit that was never granted does not."""
    for step in history:
        if not isinstance(step, tuple):
            scenario.when(step)
            continue
        what, which = step
        if which >= len(scenario.granted):
            continue
        permit_id = scenario.granted[-1 - which]
        by = build.OPERATOR
        if what == "redeem":
            scenario.when(build.redeem(permit_id, by=by))
        elif what == "corrected":
            scenario.when(build.corrected(permit_id))
        elif what in ("sent", "rejected", "unknown"):
            scenario.when(build.report(what, permit_id, by=by))
        else:
            scenario.when(build.delivery(what, permit=permit_id))


def sweep(scenario: Scenario) -> None:
    """Make visible what has lapsed, as the sweeper does."""
    for permit in scenario.store.all_permits():
        if permit.lapsed_state(scenario.store.now) is not None:
            scenario.when(Lapse(permit.permit_id))
