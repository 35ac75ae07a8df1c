"""The routes that the hot path answers, as metrics and traces name them: without ids."""

from api.running.latency import NO_ROUTE

_OF_ONE_PERMIT = {
    "/redeem": "/v1/permits/{permit_id}/redeem",
    "/outcome": "/v1/permits/{permit_id}/outcome",
}


def hot_route(path: str) -> str:
    """The route of a path that FastAPI did not route."""
    if path == "/v1/permits":
        return path
    if path.startswith("/v1/permits/"):
        return _OF_ONE_PERMIT.get(path[path.rfind("/") :], NO_ROUTE)
    return "/v1/webhooks/{provider}" if path.startswith("/v1/webhooks/") else NO_ROUTE
