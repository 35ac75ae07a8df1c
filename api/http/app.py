"""Builds the HTTP application: its routes, problem documents and OpenAPI document."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

from api.http.hot_path import HotPath
from api.http.openapi import install_openapi
from api.http.problem_responses import install_problem_handlers
from api.http.problem_types import AbsoluteTypes
from api.http.routes import (
    audit,
    control,
    due,
    effects,
    explain,
    facts,
    feeds,
    guard,
    incidents,
    journal,
    keys,
    people,
    permits,
    search,
    service,
    timeline,
    webhooks,
    windows,
)
from api.http.tracing import Traced

DESCRIPTION = """The service that programs ask *before* they mail a customer.

Only **201** is a yes; for a key that must redeem, only the 200 of `redeem` is. Everything else is a
problem document (RFC 9457) with a stable `code`.
"""


def build_http(
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]],
    max_body: int,
    public_url: str | None = None,
) -> ASGIApp:
    """The application with all endpoints; `lifespan` must set the context on `app.state`.

    `max_body` is in bytes. With a `public_url` problem documents name their type by it.
    """
    app = FastAPI(
        title="Send ledger",
        version="1",
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url="/docs",
        redoc_url=None,
        # The redirect of a needless slash would name the host that the request names.
        redirect_slashes=False,
    )
    install_problem_handlers(app)
    for module in (permits, facts, due, webhooks, people, control, journal, keys, service):
        app.include_router(module.router)
    for module in (guard, incidents):
        app.include_router(module.router)
    for module in (audit, explain, timeline, feeds, search, windows, effects):
        app.include_router(module.router)
    app.include_router(facts.invoices)
    app.include_router(people.customers)
    install_openapi(app)
    whole = HotPath(app, app.state, max_body)
    return whole if public_url is None else AbsoluteTypes(whole, public_url)


def openapi_of(app: ASGIApp) -> dict[str, Any]:
    """The OpenAPI document of a service built by build_http."""
    inner: Any = app
    while isinstance(inner, HotPath | AbsoluteTypes | Traced):
        inner = inner.application
    assert isinstance(inner, FastAPI)
    return inner.openapi()
