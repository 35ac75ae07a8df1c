"""What billing and mail providers post: signature first, then facts; nothing is lost (D10)."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.auth import CurrentContext
from api.problems import ProblemError, documented
from api.routes import rejected
from api.schemas.webhooks import WebhookAnswer
from api.webhook_intake import Post
from api.webhooks.delivery import BadSignature
from ledger.application.answers import to_json

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])
router.include_router(rejected.router)
_DOCUMENTED = documented(400, 404, 413)
_PROBLEMS = {status: text for status, text in _DOCUMENTED.items() if status not in (401, 403, 422)}


@router.post(
    "/{provider}",
    response_model=WebhookAnswer,
    responses=_PROBLEMS,
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "What the provider posts, byte for byte as it was signed",
            "content": {
                "application/json": {"schema": {}},
                "application/xml": {"schema": {"type": "string"}},
                "text/plain": {"schema": {"type": "string"}},
            },
        }
    },
)
async def take_webhook(provider: str, request: Request, context: CurrentContext) -> Response:
    """A provider's post: 200 for applied, duplicate and irrelevant alike.

    The provider's signature or Basic credentials stand for a key; without configured credentials
    there is nothing here (404). A body that cannot be used is kept and alerted on. 503 means that
    the provider must post it again.
    """
    endpoint = context.intake.endpoint(provider)
    if endpoint is None:
        context.intake.counts.posts[("unknown", "not_configured", "")] += 1
        raise ProblemError("not_found", "no webhook of this provider is configured")
    body = await request.body()
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        taken = await context.intake.take(endpoint, Post(provider, headers, body))
    except BadSignature as error:
        raise ProblemError("bad_signature", str(error)) from None
    content = {
        "received": True,
        "ignored": taken.ignored,
        "results": taken.results,
        "refresh": taken.refresh,
        "rejected": len(taken.refused),
    }
    return Response(to_json(content), media_type="application/json")
