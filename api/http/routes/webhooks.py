"""The endpoint for webhooks of billing and mail providers (D10)."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.contract.webhooks import WebhookAnswer
from api.http.auth import CurrentContext
from api.http.problem_responses import answer_response, documented
from api.http.routes import rejected
from api.webhooks.answering import answer_webhook

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
            "description": "What the provider posts, byte for byte as it was signed: JSON, XML or "
            "a form, under whatever Content-Type it comes with",
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        }
    },
)
async def take_webhook(provider: str, request: Request, context: CurrentContext) -> Response:
    """Take a provider's webhook: 200 if it was applied, is a duplicate or is irrelevant.

    The provider's signature or Basic credentials replace an API key; without configured
    credentials the answer is 404. A body that cannot be used is stored, and an alert is raised.
    After a 503 the provider must retry.
    """
    headers = {name.lower(): value for name, value in request.headers.items()}
    body = await request.body()
    return answer_response(await answer_webhook(context.intake, provider, headers, body))
