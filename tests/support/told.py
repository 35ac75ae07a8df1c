"""Facts as outsiders tell them: by the HTTP contract, or by a provider's webhook."""

import json
from collections.abc import Mapping
from typing import Any

from api.contract.facts import FACT_DATA
from api.contract.translation import Translator, fact_of
from api.webhooks.provider import Settings
from api.webhooks.registry import provider
from api.webhooks.told_facts import fact_of_webhook
from ledger.application.facts.fact import Fact
from tests.support.build import IDENTITY, at

_TRANSLATOR = Translator(IDENTITY)


def told(
    type_: str, data: Mapping[str, Any], when: str | None = None, source: str = "desk"
) -> Fact:
    """A fact that `POST /v1/facts` takes."""
    body = FACT_DATA[type_].model_validate(dict(data))
    return fact_of(_TRANSLATOR, type_, body, source, None, at(when) if when else None)


def posted(name: str, body: Any, headers: Mapping[str, str] | None = None) -> list[Fact]:
    """The facts in a webhook's proven body; every one must be usable."""
    settings = Settings(secrets=("s",), mode="test", source=name, time_zone="UTC")
    raw = json.dumps(body).encode()
    translated = provider(name).translate(headers or {}, raw, settings)
    assert not translated.rejected, translated.rejected
    facts = [fact_of_webhook(_TRANSLATOR, fact) for fact in translated.facts]
    assert all(isinstance(fact, Fact) for fact in facts), facts
    return [fact for fact in facts if isinstance(fact, Fact)]
