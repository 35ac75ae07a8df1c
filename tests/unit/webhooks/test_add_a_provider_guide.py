"""The guide's invented provider does what the guide says, block by block."""

import hashlib
import hmac
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api.webhooks import registry
from api.webhooks.provider import BadSignature, Provider, Translation
from tests.unit.webhooks.acceptable import assert_acceptable
from tests.unit.webhooks.bodies import settings
from tests.unit.webhooks.test_hostile_bodies import HOSTILE, places

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "add-a-provider.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
(_, SOURCE), (_, LINE), (_, BODY), (_, FACT) = BLOCKS
NOW = datetime(2026, 12, 1, 8, 31, tzinfo=UTC)


def acme() -> Provider:
    """The provider of the guide's first block."""
    namespace: dict[str, Any] = {"__name__": "api.webhooks.acme"}
    exec(compile(SOURCE, "api/webhooks/acme.py", "exec"), namespace)
    provider: Provider = namespace["Acme"]()
    return provider


ACME = acme()


def headers(body: bytes, at: datetime = NOW, secret: str = "secret") -> dict[str, str]:
    """Headers signed as the guide's table says."""
    seconds = str(int(at.timestamp()))
    digest = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256)
    return {"acme-signature": f"{seconds}.{digest.hexdigest()}"}


def translate(body: object) -> Translation:
    """The translation in test mode, checked for what holds of every body."""
    translation = ACME.translate({}, json.dumps(body).encode(), settings("acme"))
    assert_acceptable(translation)
    return translation


def test_the_blocks_are_the_ones_the_guide_speaks_of() -> None:
    assert [language for language, _ in BLOCKS] == ["python", "python", "json", "json"]
    assert ACME.name == "acme"


def test_the_sample_becomes_exactly_the_fact_shown() -> None:
    translation = ACME.translate({}, BODY.encode(), settings("acme"))
    assert [fact.cloud_event() for fact in translation.facts] == [json.loads(FACT)]
    assert_acceptable(translation)


def test_a_signed_delivery_passes_and_others_do_not() -> None:
    body = BODY.encode()
    ACME.verify(headers(body), body, settings("acme"), NOW)
    for given in (
        {},
        headers(body + b" "),
        headers(body, secret="other"),
        headers(body, NOW - timedelta(minutes=6)),
        headers(body, NOW + timedelta(minutes=6)),
    ):
        with pytest.raises(BadSignature):
            ACME.verify(given, body, settings("acme"), NOW)


def test_modes_and_types_are_handled_as_the_guide_says() -> None:
    sample = json.loads(BODY)
    assert translate(sample | {"sandbox": False}).ignored == "other_mode"
    assert translate(sample | {"type": "catalog.unheard_of"}).ignored == "irrelevant_event"
    assert translate(sample | {"type": "invoice.viewed"}).ignored == "irrelevant_event"
    for kind in ("invoice.unheard_of", "unheard_of"):
        (rejected,) = translate(sample | {"type": kind}).rejected
        assert rejected.kind == "unknown_money_event"


def test_nonsense_in_any_place_is_survived() -> None:
    for place in places(json.loads(BODY)):
        for hostile in HOSTILE:
            changed: Any = json.loads(BODY)
            target = changed
            for key in place[:-1]:
                target = target[key]
            target[place[-1]] = hostile
            translate(changed)


def test_the_line_of_registration_is_one_like_the_others() -> None:
    source = Path(registry.__file__).read_text()
    assert re.fullmatch(r" {8}[A-Z]\w+\(\),\n", LINE)
    assert len(re.findall(r"^ {8}[A-Z]\w+\(\),$", source, re.MULTILINE)) == len(
        registry.provider_names()
    )
    assert registry.provider("acme") is None
