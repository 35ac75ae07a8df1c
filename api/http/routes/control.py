"""Endpoints of the ledger's switches: pauses, resume, the test clock, and job leases."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from api.contract.fields import Id
from api.contract.people import ClockAccept, PauseRequest, ResumeRequest, TestClockRequest
from api.contract.permits import GivenUpLease, Lease, LeaseRequest
from api.contract.problems import ProblemError
from api.contract.switches import ClockAccepted, ClockMoved, ControlState, Switches
from api.http.auth import Auditor, CurrentContext, Operator, Sender
from api.http.context import Context
from api.http.guarded_route import GuardedRoute
from api.http.idempotency import answered_once, idempotency_of
from api.http.limited_keys import check_job
from api.http.problem_responses import answer_response, documented
from ledger.application.answers import to_json
from ledger.application.commands import AcceptClock, CallPause, CallResume, GiveUpLease, TakeLease
from ledger.application.ports import Need
from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.instants import told
from ledger.store.setup import move_test_clock

router = APIRouter(prefix="/v1", tags=["control"], route_class=GuardedRoute)
IdempotencyHeader = Annotated[str | None, Header(alias="Idempotency-Key")]


@router.get("/control", response_model=ControlState, responses=documented())
async def get_control(caller: Auditor, context: CurrentContext) -> Response:
    """The pauses in force, since when and why; recovery mode; the ledger's time."""
    found = await context.reader.load(Need(aggregates={CONTROL_ID}))
    control = found.aggregates.get(CONTROL_ID)
    body = control_view(control if isinstance(control, Control) else None)
    body["now"] = found.now
    body["test_clock"] = context.test_clock
    body["clock_suspect"] = context.engine.clock_suspect
    body["position"] = str(found.position)
    return Response(to_json(body), media_type="application/json")


@router.post("/control/pause", response_model=Switches, responses=documented())
async def pause(
    body: PauseRequest,
    caller: Operator,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Pause a scope: it applies to every decision made after this call has returned."""
    idempotency = idempotency_of(caller, "POST", "/v1/control/pause", key_header, body)

    async def work() -> Response:
        command = CallPause(body.scope, body.reason, body.by or caller.name, caller)
        answer = await context.engine.submit(command)
        return await _switched(context, answer_response(answer))

    return await answered_once(context, idempotency, caller, work)


@router.post("/control/resume", response_model=Switches, responses=documented(409))
async def resume(
    body: ResumeRequest,
    caller: Operator,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Lift a pause: needs a guard check that passed since then, a named person and a reason."""
    idempotency = idempotency_of(caller, "POST", "/v1/control/resume", key_header, body)

    async def work() -> Response:
        command = CallResume(
            body.scope, body.reason, body.by or caller.name, body.guard_check_id, caller
        )
        answer = await context.engine.submit(command)
        return await _switched(context, answer_response(answer))

    return await answered_once(context, idempotency, caller, work)


@router.post("/control/clock/accept", response_model=ClockAccepted, responses=documented())
async def accept_clock(
    body: ClockAccept,
    caller: Operator,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Declare the database's clock right: granting goes on, by the time that it shows now.

    Where the log's last event is later than that, the log goes on with an earlier time.
    """
    idempotency = idempotency_of(caller, "POST", "/v1/control/clock/accept", key_header, body)

    async def work() -> Response:
        command = AcceptClock(body.by, body.reason, caller)
        return answer_response(await context.engine.submit(command))

    return await answered_once(context, idempotency, caller, work)


@router.post("/test-clock", response_model=ClockMoved, responses=documented(404))
async def set_test_clock(
    body: TestClockRequest,
    caller: Operator,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Set the test clock of a ledger that was started with one. It cannot be set back."""
    if not context.test_clock:
        raise ProblemError("not_found", "this ledger goes by the real time")
    idempotency = idempotency_of(caller, "POST", "/v1/test-clock", key_header, body)

    async def work() -> Response:
        return await _move_test_clock(context, body)

    return await answered_once(context, idempotency, caller, work)


async def _move_test_clock(context: Context, body: TestClockRequest) -> Response:
    async with context.connections.use() as connection:
        now = await move_test_clock(connection, body.now)
    if now != body.now:
        raise ProblemError("invalid_request", f"the test clock is at {told(now)} already")
    context.projector.wake()
    position = (await context.reader.load(Need())).position
    content = {"now": now, "position": str(position)}
    return Response(to_json(content), media_type="application/json")


@router.post("/jobs/{job:text}/lease", response_model=Lease, responses=documented(409))
async def take_lease(
    job: Id,
    body: LeaseRequest,
    caller: Sender,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Take or renew a job's lease; other holders get `not_owner` until it expires."""
    check_job(caller, job)
    path = f"/v1/jobs/{job}/lease"
    idempotency = idempotency_of(caller, "POST", path, key_header, body)

    async def work() -> Response:
        command = TakeLease(job, body.holder, body.ttl_seconds, caller)
        return answer_response(await context.engine.submit(command))

    return await answered_once(context, idempotency, caller, work)


@router.delete("/jobs/{job:text}/lease", status_code=204, responses=documented(409))
async def give_up_lease(
    job: Id,
    caller: Sender,
    context: CurrentContext,
    body: GivenUpLease | None = None,
    holder: Id | None = None,
    token: Annotated[int | None, Query(ge=0, lt=2**31)] = None,
) -> Response:
    """Release a job's lease. With `holder` or `token`, a lease that does not match is kept.

    Both may be in the query or in the body; many HTTP clients send no body with a DELETE.
    """
    named = body or GivenUpLease()
    whose = (named.holder, holder, named.token, token)
    check_job(caller, job, named=any(part is not None for part in whose))
    command = GiveUpLease(job, named.holder or holder, named.token or token, caller)
    answer = await context.engine.submit(command)
    if answer.status >= 400:
        return answer_response(answer)
    return Response(status_code=204)


def control_view(control: Control | None) -> dict[str, Any]:
    """The switches as JSON."""
    if control is None:
        return {"paused": False, "pauses": [], "recovery": None, "guard_checks": []}
    recovery = None
    if control.recovery_since is not None:
        recovery = {
            "since": control.recovery_since,
            "cause": control.recovery_cause,
            "import_from": control.import_from,
        }
    return {
        "paused": bool(control.pauses),
        "pauses": [
            {"scope": scope, "since": p.since, "reason": p.reason, "by": p.by}
            for scope, p in control.pauses.items()
        ],
        "recovery": recovery,
        "guard_checks": [
            {"id": c.check_id, "started_at": c.started_at, "passed": c.passed}
            for c in control.guard_checks.values()
        ][-10:],
    }


async def _switched(context: Context, response: Response) -> Response:
    """The response to a change of a switch, with the new state."""
    if response.status_code >= 400:
        return response
    found = await context.reader.load(Need(aggregates={CONTROL_ID}))
    control = found.aggregates.get(CONTROL_ID)
    body = control_view(control if isinstance(control, Control) else None)
    body["position"] = str(found.position)
    return Response(to_json(body), media_type="application/json")
