"""Endpoints of customers: their state, and resets of breakers and address holds."""

from typing import Annotated, Any

from fastapi import APIRouter, Header
from fastapi.responses import Response

from api.contract.fields import CustomerId
from api.contract.people import BreakerReset, BreakersReset, CustomerState, ReleaseRequest
from api.contract.problems import ProblemError
from api.contract.switches import BreakersClosed, Written
from api.http.auth import Auditor, CurrentContext, Operator
from api.http.guarded_route import GuardedRoute
from api.http.idempotency import answered_once, idempotency_of
from api.http.problem_responses import answer_response, documented
from ledger.application.answers import to_json
from ledger.application.commands import ReleaseAddress, ResetBreaker
from ledger.application.ports import Need
from ledger.application.views import address_holds, customer_view
from projections.customers import open_breakers

router = APIRouter(prefix="/v1", tags=["people"], route_class=GuardedRoute)
customers = APIRouter(prefix="/v1/customers", tags=["people"], route_class=GuardedRoute)
"""Ids may have slashes (acct/12), so this route comes after all other paths below customers."""
IdempotencyHeader = Annotated[str | None, Header(alias="Idempotency-Key")]


@router.post(
    "/customers/{customer_id:text}/breaker/reset", response_model=Written, responses=documented(404)
)
async def reset_breaker(
    customer_id: CustomerId,
    body: BreakerReset,
    caller: Operator,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Close a customer's breaker, with a reason and a person's name (default: the key's name)."""
    path = f"/v1/customers/{customer_id}/breaker/reset"
    idempotency = idempotency_of(caller, "POST", path, key_header, body)

    async def work() -> Response:
        command = ResetBreaker(customer_id, body.by or caller.name, body.reason, caller)
        return answer_response(await context.engine.submit(command))

    return await answered_once(context, idempotency, caller, work)


@router.post("/breakers/reset", response_model=BreakersClosed, responses=documented())
async def reset_breakers(
    body: BreakersReset,
    caller: Operator,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Close the breakers of the named customers, or all open ones; `dry_run` looks first."""
    idempotency = idempotency_of(caller, "POST", "/v1/breakers/reset", key_header, body)

    async def work() -> Response:
        ids = body.customer_ids
        if ids is None:
            head = (await context.reader.load(Need())).position
            if await context.projector.wait_for(head, 5.0) > 0:
                raise ProblemError("unavailable", "the read model is behind; ask again")
            async with context.connections.use() as connection:
                ids = await open_breakers(connection, body.opened_since)
        if body.dry_run:
            position = str(context.engine.position)
            looked = {"reset": [], "would_reset": ids, "unknown": [], "position": position}
            return Response(to_json(looked), media_type="application/json")
        by = body.by or caller.name
        commands = [ResetBreaker(c, by, body.reason, caller) for c in ids]
        answers = await context.engine.submit_all(commands)
        reset = [c for c, a in zip(ids, answers, strict=True) if a.result == "applied"]
        content: dict[str, Any] = {
            "reset": reset,
            "unknown": [c for c, a in zip(ids, answers, strict=True) if a.status == 404],
            "position": str(max((a.position for a in answers), default=0)),
        }
        return Response(to_json(content), media_type="application/json")

    return await answered_once(context, idempotency, caller, work)


@router.post(
    "/customers/{customer_id:text}/addresses/release",
    response_model=Written,
    responses=documented(404),
)
async def release_addresses(
    customer_id: CustomerId,
    body: ReleaseRequest,
    caller: Operator,
    context: CurrentContext,
    key_header: IdempotencyHeader = None,
) -> Response:
    """Lift the holds on a customer's addresses after a bounce, a complaint or a block.

    A released address is free for every customer who has it. An unsubscription stays: only the fact
    `address.unhold` lifts it.
    """
    path = f"/v1/customers/{customer_id}/addresses/release"
    idempotency = idempotency_of(caller, "POST", path, key_header, body)

    async def work() -> Response:
        by = body.by or caller.name
        address = context.translator.address(body.address) if body.address else None
        command = ReleaseAddress(customer_id, by, body.reason, caller, address)
        return answer_response(await context.engine.submit(command))

    return await answered_once(context, idempotency, caller, work)


@customers.get("/{customer_id:text}", response_model=CustomerState, responses=documented(404))
async def get_customer(
    customer_id: CustomerId, caller: Auditor, context: CurrentContext
) -> Response:
    """A customer's current breaker, windows, addresses and debts."""
    customer, found = await context.reader.customer(customer_id)
    if customer is None:
        raise ProblemError("unknown_customer", f"customer {customer_id} is not known")
    invoices = await context.reader.invoices_of(customer)
    body = customer_view(customer, invoices, found.now, context.policy)
    body["addresses"] = await context.reader.addresses(customer.addresses)
    mailboxes = await context.reader.mailboxes(customer.addresses)
    holds = address_holds(customer, mailboxes, found.now)
    texts = await context.reader.texts({hold["fingerprint"] for hold in holds})
    body["addresses_on_hold"] = len({hold["fingerprint"] for hold in holds})
    body["address_holds"] = [{"address": texts.get(h.pop("fingerprint")), **h} for h in holds]
    body["position"] = str(found.position)
    return Response(to_json(body), media_type="application/json")
