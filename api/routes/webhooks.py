"""What billing and mail providers post: signature first, then facts; nothing is lost (D10)."""

import asyncio

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.auth import CurrentContext
from api.context import Context
from api.problems import ProblemError, documented
from api.routes.facts import take_facts
from api.schemas.fields import Id
from api.webhooks.delivery import BadSignature, Translation
from api.webhooks.registry import provider
from ledger.application.answers import to_json
from ledger.application.requests import Caller
from ledger.store.rejected import keep_rejected

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])


@router.post("/{name}", responses=documented(400, 404, 413))
async def take_webhook(name: Id, request: Request, context: CurrentContext) -> Response:
    """A provider's post: 200 for applied, duplicate and irrelevant alike.

    The provider's signature or Basic credentials stand for a key. A body that cannot be used is
    kept and alerted on.
    """
    known, settings = provider(name), context.settings.webhooks.get(name)
    if known is None or settings is None:
        raise ProblemError("not_found", f"no webhook of {name!r} is configured")
    body = await request.body()
    headers = {key.lower(): value for key, value in request.headers.items()}
    now = await context.now()
    try:
        await asyncio.to_thread(known.verify, headers, body, settings, now)
    except BadSignature as error:
        raise ProblemError("bad_signature", str(error)) from None
    translation = known.translate(headers, body, settings)
    content = await apply_translation(context, name, translation, headers, body)
    return Response(to_json(content), media_type="application/json")


async def apply_translation(
    context: Context, name: str, translation: Translation, headers: dict[str, str], body: bytes
) -> dict[str, object]:
    """Apply the facts of a body, and keep it where a part of it could not be used."""
    caller = Caller("system", f"webhook:{name}", frozenset({"facts"}))
    events = [fact.cloud_event() for fact in translation.facts]
    answer = await take_facts(context, caller, events)
    refused = [
        ("rejected_fact", result["detail"])
        for result in answer["results"]
        if result["result"] == "rejected"
    ]
    refused += [(rejected.kind, rejected.detail) for rejected in translation.rejected]
    if refused:
        async with context.connections.use() as connection:
            for kind, detail in refused:
                await keep_rejected(connection, name, kind, detail or "", headers, body)
        context.pager.wake()
    return {
        "received": True,
        "ignored": translation.ignored,
        "results": answer["results"],
        "rejected": len(refused),
    }
