"""Answers one webhook, for the route and for the hot path."""

from collections.abc import Mapping

from api.contract.problems import ProblemError
from api.webhooks.intake import Intake, Post
from api.webhooks.provider import BadSignature
from ledger.application.answers import Answer, to_json


async def answer_webhook(
    intake: Intake, name: str, headers: Mapping[str, str], body: bytes
) -> Answer:
    """Process a webhook: 200 if it was applied, is a duplicate or is irrelevant.

    Header names are in lower case. Raises ProblemError: not_found without configured credentials,
    bad_signature, or unavailable where the provider must retry.
    """
    endpoint = intake.endpoint(name)
    if endpoint is None:
        intake.counts.posts[("unknown", "not_configured", "")] += 1
        raise ProblemError("not_found", "no webhook of this provider is configured")
    try:
        taken = await intake.take(endpoint, Post(name, headers, body))
    except BadSignature as error:
        raise ProblemError("bad_signature", str(error)) from None
    content = {
        "received": True,
        "ignored": taken.ignored,
        "results": taken.results,
        "refresh": taken.refresh,
        "rejected": len(taken.refused),
    }
    return Answer(200, to_json(content))
