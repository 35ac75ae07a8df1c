"""The dunning ladder: which stage of an invoice is due now, and why another one is not (D7)."""

from datetime import date, datetime, timedelta

from ledger.domain.balance import Status
from ledger.domain.invoice import Invoice, StageRecord
from ledger.domain.local_days import start_of_day
from ledger.domain.policy import Policy, Stage
from ledger.domain.reasons import Denial
from ledger.domain.value import value


@value
class Due:
    """A stage that may be reminded of now, those it supersedes, and when each was crossed."""

    stage: Stage
    supersedes: tuple[str, ...]
    crossed: dict[str, date]


def money_obstacle(invoice: Invoice, policy: Policy) -> Denial | None:
    """Why nothing can be asked for on this invoice: void, draft, or nothing is owed."""
    standing = invoice.standing
    name = invoice.invoice_id
    if standing.status is Status.VOID:
        return Denial("voided", f"invoice {name} is void")
    if standing.status is Status.UNCOLLECTIBLE:
        return Denial("nothing_owed", f"invoice {name} was written off: nothing is asked for")
    if standing.status is Status.PAID:
        return Denial("nothing_owed", f"invoice {name} is paid")
    if standing.status is Status.DRAFT:
        return Denial("not_past_due", f"invoice {name} is a draft")
    assert invoice.snapshot is not None
    smallest = policy.smallest_amount_to_dun.get(invoice.snapshot.currency, 1)
    if standing.balance < smallest:
        return Denial(
            "nothing_owed",
            f"invoice {name} owes {standing.balance} minor units of {invoice.snapshot.currency}, "
            f"below the smallest amount to dun of {smallest}",
        )
    return None


def stage_obstacle(
    invoice: Invoice, stage: Stage | None, now: datetime, policy: Policy
) -> Denial | Due:
    """The stage that is due now, or why the one asked for (None: any) is not.

    Money and holds are judged before this; here it is the calendar and the ladder only.
    """
    age, starts_on = invoice.days_past_due(now, policy.time_zone), invoice.standing.starts_on
    denial = _age_obstacle(invoice, stage, age, policy)
    if denial is not None:
        return denial
    name = invoice.invoice_id
    assert age is not None
    assert starts_on is not None
    due = due_stage(invoice, age, policy)
    if stage is not None and due is not None and _takes_the_place(due, stage, policy):
        return Denial(
            "stage_superseded",
            f"{due.name} of invoice {name} is due, not {stage.name}",
            due_stage=due.name,
        )
    wanted = stage or due or [s for s in policy.stages if s.days <= age][-1]
    denial = floor_obstacle(invoice, wanted)
    if denial is not None:
        return denial
    if due is None or (stage is not None and due.name != stage.name):
        return Denial("stage_superseded", f"{wanted.name} of invoice {name} is used up")
    free_on = gap_ends_on(invoice, policy)
    if free_on is not None and invoice.local_date(now, policy.time_zone) < free_on:
        return Denial(
            "not_reached",
            f"invoice {name} had a reminder less than {policy.days_between_reminders} days ago",
            local_midnight(invoice, free_on, policy),
        )
    lower = unrecorded_below(invoice, due, policy)
    crossed = {s.name: starts_on + timedelta(days=s.days) for s in (*lower, due)}
    return Due(due, tuple([s.name for s in lower]), crossed)


def calendar_obstacle(
    invoice: Invoice, stage: Stage | None, now: datetime, policy: Policy
) -> Denial | None:
    """Why the calendar forbids the stage (None: the lowest one), None if it has been reached."""
    return _age_obstacle(invoice, stage, invoice.days_past_due(now, policy.time_zone), policy)


def _age_obstacle(
    invoice: Invoice, stage: Stage | None, age: int | None, policy: Policy
) -> Denial | None:
    name, starts_on = invoice.invoice_id, invoice.standing.starts_on
    if age is None or starts_on is None:
        return Denial("no_due_date", f"invoice {name} has no due date, so it is never past due")
    lowest = stage or policy.stages[0]
    if age < 1:
        at = reached_at(invoice, lowest, policy)
        return Denial("not_past_due", f"invoice {name} counts from {starts_on}", at)
    if age < lowest.days:
        at = reached_at(invoice, lowest, policy)
        return Denial(
            "not_reached", f"invoice {name} is {age} days past due; {lowest.name} needs more", at
        )
    return None


def floor_obstacle(invoice: Invoice, stage: Stage) -> Denial | None:
    """Why too little is owed for the stage, None if it is enough."""
    if meets_floor(invoice, stage):
        return None
    return Denial(
        "balance_below_stage",
        f"invoice {invoice.invoice_id} owes {invoice.standing.balance} minor units, "
        f"less than the {stage.floor_percent} % of its total that {stage.name} needs",
    )


def due_stage(invoice: Invoice, age: int, policy: Policy) -> Stage | None:
    """The stage to act on at this age, waiting between reminders aside.

    The highest one reached, unrecorded and with enough owed; under `catch_up = next` the lowest.
    A stage below one that is already on record is never gone back to.
    """
    highest_recorded = _highest_recorded_days(invoice, policy)
    found: Stage | None = None
    for stage in policy.stages:
        if stage.days > age:
            break
        if stage.days > highest_recorded and meets_floor(invoice, stage):
            found = stage
            if policy.catch_up != "highest":
                break
    return found


def unrecorded_below(invoice: Invoice, stage: Stage, policy: Policy) -> tuple[Stage, ...]:
    """The lower stages without a record in this cycle: superseded by a grant of this one."""
    cycle = invoice.standing.cycle
    return tuple([s for s in policy.below(stage) if (cycle, s.name) not in invoice.stages])


def record_of(invoice: Invoice, stage: Stage, policy: Policy) -> StageRecord | None:
    """What is on record for a stage in this cycle.

    A stage crossed before the cut-over date `adopt_before` counts as superseded (design D7).
    """
    cycle = invoice.standing.cycle
    recorded = invoice.stages.get((cycle, stage.name))
    starts_on = invoice.standing.starts_on
    if recorded is not None or policy.adopt_before is None or starts_on is None:
        return recorded
    if (policy.adopt_before - starts_on).days > stage.days:
        return StageRecord(cycle, stage.name, "superseded", invoice.created_on)
    return None


def stage_to_ask_about(invoice: Invoice, now: datetime, policy: Policy) -> Stage | None:
    """For a request that names no stage: the due one, else the highest one reached."""
    age = invoice.days_past_due(now, policy.time_zone)
    if age is None:
        return None
    return due_stage(invoice, age, policy) or stage_reached(invoice, now, policy)


def stage_reached(invoice: Invoice, at: datetime, policy: Policy) -> Stage | None:
    """The highest stage that the invoice had reached at that time (UTC), None for none."""
    age = invoice.days_past_due(at, policy.time_zone)
    reached = [s for s in policy.stages if age is not None and s.days <= age]
    return reached[-1] if reached else None


def cycle_at(invoice: Invoice, at: datetime, policy: Policy) -> int:
    """The cycle that a mail of that time (UTC) is of: the present one, once it had begun."""
    cycle, starts_on = invoice.standing.cycle, invoice.standing.starts_on
    before = starts_on is not None and invoice.local_date(at, policy.time_zone) < starts_on
    return cycle - 1 if cycle > 1 and before else cycle


def meets_floor(invoice: Invoice, stage: Stage) -> bool:
    """Is enough of the invoice's total still owed for this stage?"""
    total = invoice.snapshot.total if invoice.snapshot else 0
    return invoice.standing.balance * 100 >= stage.floor_percent * total


def gap_ends_on(invoice: Invoice, policy: Policy) -> date | None:
    """The first local date on which the invoice may have its next reminder, None if any."""
    last = invoice.last_reminder_at()
    if last is None:
        return None
    return invoice.local_date(last, policy.time_zone) + timedelta(
        days=policy.days_between_reminders
    )


def reached_at(invoice: Invoice, stage: Stage, policy: Policy) -> datetime | None:
    """The instant (UTC) at which a stage is reached: local midnight of its date.

    None where it has none: no due date, or one at the end of the calendar.
    """
    starts_on = invoice.standing.starts_on
    if starts_on is None:
        return None
    try:
        return local_midnight(invoice, starts_on + timedelta(days=stage.days), policy)
    except OverflowError:
        return None


def local_midnight(invoice: Invoice, day: date, policy: Policy) -> datetime:
    """The start of a calendar day in the invoice's billing zone, as UTC."""
    zone = invoice.snapshot.time_zone if invoice.snapshot else None
    return start_of_day(day, zone or policy.time_zone)


def _takes_the_place(due: Stage, stage: Stage, policy: Policy) -> bool:
    return due.name != stage.name and (due.days > stage.days or policy.catch_up == "next")


def _highest_recorded_days(invoice: Invoice, policy: Policy) -> int:
    if not invoice.stages and policy.adopt_before is None:
        return 0
    days = 0
    for stage in policy.stages:
        if record_of(invoice, stage, policy) is not None:
            days = stage.days
    return days
