"""Pages for news of invoices that could not be used: what was known before stays in force (D10)."""

from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response

from api.contract.facts import FACT_DATA
from api.contract.invalid import first_of, validation_errors
from api.contract.problems import ProblemError
from api.http.auth import caller_known
from api.http.context import Context, context_of
from api.http.guarded_route import GuardedRoute, Handler
from api.http.unusable_alerts import Unusable
from ledger.application.ports import Need
from ledger.domain.identity import aggregate_id
from ledger.domain.invoice import Invoice
from ledger.store.alerts.alerting import raise_alert

_INVOICE = "invoice."
_MOST_OF_A_POST = 100


class SnapshotRoute(GuardedRoute):
    """Tells a human of a snapshot that was refused, where an older one stays in force."""

    def get_route_handler(self) -> Handler:
        """The handler of the route; a refused snapshot is refused all the same."""
        handle = super().get_route_handler()

        async def watched(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                await _tell_of_refused(request, first_of(validation_errors(error)))
                raise
            except ProblemError as error:
                if error.code == "invalid_request":
                    await _tell_of_refused(request, error.detail)
                raise

        return watched


async def tell_of_unusable_facts(
    context: Context, events: list[Any], results: list[dict[str, Any]]
) -> None:
    """Raise an alert for each known invoice of which a fact of the post was rejected."""
    unusable = []
    for event, result in zip(events, results, strict=True):
        if result["result"] != "rejected" or not isinstance(event, dict):
            continue
        type_, source, data = event.get("type"), event.get("source"), event.get("data")
        if not isinstance(type_, str) or type_ not in FACT_DATA or not type_.startswith(_INVOICE):
            continue
        invoice_id = data.get("invoice_id") if isinstance(data, dict) else None
        if isinstance(invoice_id, str):
            told_by = source if isinstance(source, str) and source.isprintable() else "nobody"
            unusable.append(Unusable(told_by, type_, invoice_id, str(result["detail"])))
    await _tell(context, unusable)


async def _tell_of_refused(request: Request, detail: str) -> None:
    caller = caller_known(request)
    if request.method != "PUT" or caller is None:
        return
    invoice_id = str(request.path_params["invoice_id"])
    source, type_ = f"put:{caller.name}", f"{_INVOICE}observed"
    await _tell(context_of(request), [Unusable(source, type_, invoice_id, detail)])


async def _tell(context: Context, unusable: list[Unusable]) -> None:
    """Raise an alert once for each source, type, known invoice and day (UTC), to a bound."""
    named = {aggregate_id("invoice", u.invoice_id.strip()): u for u in unusable if u.readable}
    asked = dict(list(named.items())[:_MOST_OF_A_POST])
    if not asked:
        return
    found = await context.reader.load(Need(aggregates=set(asked)))
    known = [u for id_, u in asked.items() if _stays_in_force(found.aggregates.get(id_))]
    day = found.now.date()
    alerts = [context.unusable_news.alert(u, day) for u in known]
    if not alerts:
        return
    async with context.connections.use() as connection:
        for alert in {alert.dedupe_key: alert for alert in alerts}.values():
            await raise_alert(connection, alert)
    context.pager.wake()


def _stays_in_force(invoice: Any) -> bool:
    return isinstance(invoice, Invoice) and invoice.snapshot is not None
