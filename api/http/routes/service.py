"""Endpoints of the service itself: health, metrics, policy, and the pages of problem types."""

import ipaddress
import json
import re
from dataclasses import asdict
from html import escape
from importlib.resources import files

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from api.contract.problems import OTHER_REASONS, ProblemError, problem_document
from api.contract.switches import DiagnosisState, Health, PolicyState
from api.diagnosis.diagnosis import diagnose
from api.http.auth import AnyReader, Auditor, CurrentContext, caller_of, the_authorization
from api.http.context import Context, context_of
from api.http.fresh_reads import current_projection
from api.http.guarded_route import GuardedRoute
from api.http.metrics import render_metrics
from api.http.problem_responses import documented, problem_response
from api.upkeep.feed_watch import watch_feeds
from ledger.application.answers import to_json
from ledger.application.ports import StoreUnavailable
from ledger.domain.reasons import REASONS

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`([^`]*)`")

router = APIRouter(tags=["service"], route_class=GuardedRoute)


@router.get("/healthz", response_model=Health)
async def healthz() -> Response:
    """200 while the process answers."""
    return Response(to_json({"status": "ok"}), media_type="application/json")


@router.get("/readyz", response_model=Health, responses={503: documented()[503]})
async def readyz(request: Request) -> Response:
    """200 while the process can reach its database and accepts requests."""
    context = context_of(request)
    if context.draining:
        return problem_response("unavailable", "the service is shutting down")
    try:
        await context.now()
    except StoreUnavailable:
        return problem_response("unavailable", "the store does not answer")
    return Response(to_json({"status": "ready"}), media_type="application/json")


@router.get("/metrics", response_class=PlainTextResponse, responses=documented())
async def metrics(request: Request) -> Response:
    """Prometheus metrics; from other machines only with a key of scope `audit`."""
    context = context_of(request)
    await _local_or_audit(request, context)
    return PlainTextResponse(
        await render_metrics(context), media_type="text/plain; version=0.0.4; charset=utf-8"
    )


@router.get("/v1/policy", response_model=PolicyState, responses=documented())
async def get_policy(caller: AnyReader, context: CurrentContext) -> Response:
    """The policy in force, and its version: the hash that every decision records."""
    body = {"version": context.policy.version(), "policy": json.loads(context.policy.text())}
    return Response(to_json(body), media_type="application/json")


@router.get("/v1/diagnosis", response_model=DiagnosisState, responses=documented())
async def get_diagnosis(caller: Auditor, context: CurrentContext) -> Response:
    """What an expert would find wrong with this ledger, and what to do about it."""
    await watch_feeds(context)
    headers = await current_projection(context, None)
    found = await diagnose(context, len(context.settings.alert_urls))
    body = {
        "ok": found.ok,
        "findings": [asdict(finding) for finding in found.findings],
        "versions": found.versions,
        "position": str(found.position),
    }
    return Response(to_json(body), headers=headers, media_type="application/json")


@router.get("/problems/{code}", response_class=HTMLResponse, responses={404: documented(404)[404]})
async def problem_page(code: str) -> Response:
    """The meaning of a problem code, and what to do about it."""
    if code not in REASONS and code not in OTHER_REASONS:
        raise ProblemError("not_found", "there is no such problem code")
    status, problem = problem_document(code, "")
    template = (files("api.http") / "problem_page.html").read_text(encoding="utf-8")
    retry = "may ask again by itself" if problem["retryable"] else "must not ask again by itself"
    page = (
        template.replace("{{code}}", code)
        .replace("{{status}}", str(status))
        .replace("{{title}}", problem["title"])
        .replace("{{retry}}", retry)
        .replace("{{advice}}", _advice(code))
    )
    return HTMLResponse(page)


def _advice(code: str) -> str:
    """The line about this code from the denials page."""
    text = (files("api.http") / "denials.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) >= 3 and cells[0] == f"`{code}`":
            happened, remedy = map(_as_html, cells[1:3])
            return (
                f"<h2>What happened</h2>\n<p>{happened}</p>\n<h2>What to do</h2>\n<p>{remedy}</p>"
            )
    return ""


def _as_html(cell: str) -> str:
    """The Markdown of a table's cell: code and links, whose pages are not served here."""
    text = _LINK.sub(r"\1", escape(cell, quote=False))
    return _CODE.sub(r"<code>\1</code>", text)


async def _local_or_audit(request: Request, context: Context) -> None:
    host = request.client.host if request.client else ""
    try:
        if ipaddress.ip_address(host).is_loopback:
            return
    except ValueError:
        pass
    caller = await caller_of(context, the_authorization(request.scope["headers"]))
    if not caller.may("audit"):
        raise ProblemError("forbidden", "metrics need the scope audit from other machines")
