"""Sample bodies of tests/payloads, and their translation by a provider."""

import json
from pathlib import Path

from api.webhooks.provider import Provider, Settings, Translation
from api.webhooks.registry import provider

PAYLOADS = Path(__file__).parents[2] / "payloads"
NOT_BODIES = {"README.md", "signature_vectors.json"}
_UNWRAPPED = "mail/ses."
"""Samples of what SES says, without the envelope in which SNS posts it."""


def known(name: str) -> Provider:
    """The provider of that name."""
    found = provider(name)
    assert found is not None
    return found


def settings(source: str = "test", **changes: object) -> Settings:
    """Settings in test mode, which takes the samples as they are."""
    values: dict[str, object] = {"secrets": ("secret",), "mode": "test", "source": source}
    return Settings(**(values | changes))  # type: ignore[arg-type]


def sample(path: str) -> bytes:
    """The bytes that are posted of a sample, by its path under tests/payloads."""
    body = (PAYLOADS / path).read_bytes()
    if not path.startswith(_UNWRAPPED):
        return body
    envelope = {"Type": "Notification", "MessageId": f"sns-{path}", "Message": body.decode()}
    return json.dumps(envelope).encode()


def every_sample() -> list[str]:
    """The paths of all bodies that a provider might post; those in `field` have their own tests."""
    field = PAYLOADS / "field"
    files = (f for f in sorted(PAYLOADS.rglob("*")) if f.is_file() and field not in f.parents)
    return [str(file.relative_to(PAYLOADS)) for file in files if file.name not in NOT_BODIES]


def provider_of(path: str) -> str:
    """The provider who would post this sample."""
    folder, _, file = path.removeprefix("field/").partition("/")
    if folder == "mail":
        return file.partition(".")[0]
    if not file.startswith("mail_"):
        return folder
    return file.removeprefix("mail_").partition(".")[0].partition("_")[0]


def read(path: str, **changes: object) -> Translation:
    """The translation of a sample by its own provider."""
    name = provider_of(path)
    return known(name).translate({}, sample(path), settings(name, **changes))


def events(translation: Translation) -> list[dict[str, object]]:
    """The facts as CloudEvents."""
    return [fact.cloud_event() for fact in translation.facts]
