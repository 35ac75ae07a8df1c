"""Commands of people: pause and resume, breakers, leases, incidents, erasure and recovery."""

from datetime import timedelta

from ledger.application.commands import (
    AcceptClock,
    BindAnswer,
    CallPause,
    CallResume,
    CloseIncident,
    DeclareIncident,
    EnterRecovery,
    Erase,
    GiveUpLease,
    NoteGuardCheck,
    ReleaseAddress,
    ResetBreaker,
    TakeLease,
)
from ledger.application.effects import Alert, Change, Outcome, denied
from ledger.application.facts.suppression import release_address as release_address_hold
from ledger.application.recovery import note_loss
from ledger.application.world import World
from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.customer import Customer
from ledger.domain.hold import Hold, is_of_sort
from ledger.domain.incident import Incident
from ledger.domain.instants import told
from ledger.domain.job import Job
from ledger.domain.mailbox import UNSUBSCRIBED
from ledger.domain.reasons import Denial


def reset_breaker(world: World, command: ResetBreaker) -> Outcome:
    """Close a customer's breaker by name and reason; one that is closed stays closed."""
    customer = world.customer(command.customer_id)
    if customer is None:
        return _unknown_customer(command.customer_id)
    outcome = Outcome(customer_id=customer.customer_id, result="ignored")
    if customer.breaker is not None:
        outcome.result = "applied"
        outcome.change(
            "customer",
            customer.customer_id,
            Customer.BreakerReset,
            by=command.by,
            reason=command.reason,
        )
    return outcome


def release_address(world: World, command: ReleaseAddress) -> Outcome:
    """Lift the holds of every address of the customer, or of the named one alone.

    What the owner of an address unsubscribed from stays: that is lifted by their own word only.
    """
    customer = world.customer(command.customer_id)
    if customer is None:
        return _unknown_customer(command.customer_id)
    outcome = Outcome(customer_id=customer.customer_id, result="applied")
    named = command.address
    mine = dict.fromkeys((*customer.addresses, *customer.held_addresses))
    wanted = mine if named is None else {named.fingerprint: None}
    for fingerprint in wanted:
        _release(world, outcome, fingerprint, command)
    for fingerprint in customer.held_addresses:
        if fingerprint not in wanted:
            continue
        outcome.change(
            "customer",
            customer.customer_id,
            Customer.AddressReleased,
            fingerprint=fingerprint,
            by=command.by,
            reason=command.reason,
        )
    return outcome


def _release(world: World, outcome: Outcome, fingerprint: str, command: ReleaseAddress) -> None:
    """Lift every hold of the address that is in force but its owner's unsubscriptions.

    A word that is dated later than now is lifted too: a release is the last word.
    """
    mailbox = world.mailbox(fingerprint)
    for source, hold in mailbox.holds.by_source() if mailbox is not None else ():
        if hold.held and not is_of_sort(hold.reason, UNSUBSCRIBED):
            lifted = Hold(hold.reason, False, max(world.now, hold.at))
            why = (command.by, command.reason)
            release_address_hold(world, outcome, fingerprint, lifted, *why, source)


def call_pause(world: World, command: CallPause) -> Outcome:
    """Stop sending of a scope: binding for every decision after this one (design D13)."""
    outcome = Outcome(result="applied")
    _control(outcome, Control.Paused, scope=command.scope, reason=command.reason, by=command.by)
    return outcome


def call_resume(world: World, command: CallResume) -> Outcome:
    """Lift a pause, or end recovery mode; only after a guard check started since and passed.

    What came first is told by versions: a check and a pause may have the same time. Recovery mode
    holds everything back, so `all` ends it too where no pause of that scope has to be lifted first.
    """
    control = world.control
    nothing_paused = command.scope == "all" and "all" not in control.pauses
    recovering = command.scope == "recovery" or nothing_paused
    pause = control.pauses.get(command.scope)
    since = control.recovery_since if recovering else (pause.since if pause else None)
    if since is None:
        return Outcome(result="ignored")
    called = control.recovery_version if recovering else control.last_paused[command.scope]
    check = control.guard_checks.get(command.guard_check_id or "")
    if check is None or not check.passed or check.started_version < called:
        return denied(
            Denial(
                "guard_not_proven",
                f"no guard check that started since {told(since)} has passed; "
                "run one and name its id",
            )
        )
    outcome = Outcome(result="applied")
    if recovering:
        _control(outcome, Control.RecoveryEnded, by=command.by, reason=command.reason)
    else:
        _control(
            outcome,
            Control.Resumed,
            scope=command.scope,
            reason=command.reason,
            by=command.by,
            guard_check_id=check.check_id,
        )
    return outcome


def accept_clock(world: World, command: AcceptClock) -> Outcome:
    """Go by the database's clock as it is now, in every process; `now` is what it shows (UTC).

    Written whether or not this process suspects it: another one may.
    """
    outcome = Outcome(result="applied", body={"now": world.now})
    _control(outcome, Control.ClockAccepted, by=command.by, reason=command.reason)
    return outcome


def note_guard_check(world: World, command: NoteGuardCheck) -> Outcome:
    """Record the end of a guard check; one that failed pages."""
    outcome = Outcome(result="applied")
    _control(
        outcome,
        Control.GuardChecked,
        check_id=command.check_id,
        started_at=command.started_at,
        passed=not command.failed,
        failed=command.failed,
        started_version=command.started_version,
    )
    if command.failed:
        outcome.alerts.append(
            Alert(
                "guard_failed",
                f"guard_failed:{command.check_id}",
                f"guard check {command.check_id} failed: {', '.join(command.failed)}",
            )
        )
    return outcome


def enter_recovery(world: World, command: EnterRecovery) -> Outcome:
    """The database is an older copy: deny everything until a human resumes (design D13)."""
    outcome = Outcome(result="ignored")
    if world.control.recovery_since is None:
        outcome.result = "applied"
        note_loss(world, outcome, command.cause, command.import_from)
    return outcome


def take_lease(world: World, command: TakeLease) -> Outcome:
    """Give the job to its holder for a time, or renew it; another holder hears not_owner."""
    job = world.job(command.job)
    outcome = Outcome(result="applied")
    expires_at = world.now + timedelta(seconds=command.ttl_seconds)
    owner = job.owner(world.now) if job else None
    if job is not None and owner is not None and owner != command.holder:
        return denied(
            Denial(
                "not_owner", f"{owner} has the lease of {command.job}", available_at=job.expires_at
            )
        )
    if job is None:
        outcome.register("job", command.job, Job.Created, Job.TOPIC, name=command.job)
    token = job.token if job else 0
    if job is not None and owner == command.holder:
        outcome.change("job", command.job, Job.LeaseRenewed, expires_at=expires_at)
    else:
        token += 1
        outcome.change(
            "job",
            command.job,
            Job.LeaseTaken,
            holder=command.holder,
            token=token,
            expires_at=expires_at,
        )
    outcome.body = {"job": command.job, "token": token, "expires_at": expires_at}
    return outcome


def give_up_lease(world: World, command: GiveUpLease) -> Outcome:
    """Give the lease up; somebody else's stays."""
    job = world.job(command.job)
    owner = job.owner(world.now) if job else None
    if job is None or owner is None:
        return Outcome(status=204, result="ignored")
    other_holder = command.holder is not None and owner != command.holder
    if other_holder or (command.token is not None and job.token != command.token):
        return denied(Denial("not_owner", f"{owner} has the lease of {command.job}"))
    outcome = Outcome(status=204, result="applied")
    outcome.change("job", command.job, Job.LeaseGivenUp)
    return outcome


def declare_incident(world: World, command: DeclareIncident) -> Outcome:
    """A human declares an incident."""
    outcome = Outcome(status=201, result="applied")
    outcome.register(
        "incident",
        command.incident_id,
        Incident.Created,
        Incident.TOPIC,
        incident_id=command.incident_id,
        title=command.title,
        cause=command.cause,
        window_from=command.window_from,
        window_to=command.window_to,
        declared_by=command.by,
    )
    return outcome


def close_incident(world: World, command: CloseIncident) -> Outcome:
    """A human closes an incident; closing it again changes nothing."""
    incident = world.incident(command.incident_id)
    if incident is None:
        return denied(Denial("unknown_incident", f"there is no incident {command.incident_id}"))
    outcome = Outcome(result="ignored")
    if incident.closed_at is None:
        outcome.result = "applied"
        outcome.change("incident", command.incident_id, Incident.Closed, by=command.by)
    return outcome


def erase(world: World, command: Erase) -> Outcome:
    """Forget a customer's addresses; the log, its hashes and its counts stay (design D18)."""
    outcome = Outcome(result="applied")
    customer = world.customer(command.customer_id)
    if customer is None:
        return _unknown_customer(command.customer_id)
    outcome.change("customer", customer.customer_id, Customer.Erased, by=command.by)
    outcome.forget_addresses_of = customer.customer_id
    return outcome


def bind_answer(world: World, command: BindAnswer) -> Outcome:
    """Keep an answer under its Idempotency-Key; the engine writes the binding."""
    return Outcome(result="applied")


def _control(outcome: Outcome, event: type[Control.Event], **fields: object) -> None:
    outcome.changes.append(Change(CONTROL_ID, event, dict(fields)))


def _unknown_customer(customer_id: str) -> Outcome:
    return denied(Denial("unknown_customer", f"customer {customer_id} is not known"))
