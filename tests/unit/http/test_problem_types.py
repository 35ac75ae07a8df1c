"""With a public URL the type of a problem is absolute, also of each in a batch."""

import asyncio
import json
from typing import Any

import pytest

from api.http.problem_types import AbsoluteTypes
from api.settings.environment import SettingsError, load_settings


def _answer(path: str, content_type: str, body: bytes) -> tuple[dict[str, str], Any]:
    """What a caller of the wrapped application gets."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        length = str(len(body)).encode()
        headers = [(b"content-type", content_type.encode()), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 409, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def send(message: Any) -> None:
        sent.append(message)

    wrapped = AbsoluteTypes(app, "https://ledger.example.com/mail")
    scope = {"type": "http", "path": path}
    asyncio.run(wrapped(scope, None, send))  # type: ignore[arg-type]
    start, content = sent
    assert dict(start["headers"])[b"content-length"] == str(len(content["body"])).encode()
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return headers, json.loads(content["body"])


def test_the_type_is_absolute() -> None:
    body = b'{"type":"/problems/paused","detail":"\\"type\\":\\"/problems/x"}'
    headers, told = _answer("/v1/permits", "application/problem+json", body)
    assert headers["content-type"] == "application/problem+json"
    assert told["type"] == "https://ledger.example.com/mail/problems/paused"
    assert told["detail"] == '"type":"/problems/x'


@pytest.mark.parametrize("what", ["batch", "redeem", "outcomes"])
def test_so_is_each_in_a_batch(what: str) -> None:
    body = b'{"results":[{"status":409,"problem":{"type":"/problems/paused"}}]}'
    _, told = _answer(f"/v1/permits/{what}", "application/json", body)
    (item,) = told["results"]
    assert item["problem"]["type"] == "https://ledger.example.com/mail/problems/paused"


def test_other_answers_stay_as_they_are() -> None:
    body = b'{"type":"/problems/paused"}'
    assert _answer("/v1/events", "application/json", body)[1] == {"type": "/problems/paused"}


def _given(url: str) -> dict[str, str]:
    return {"LEDGER_SECRET": "a secret of sixteen characters", "LEDGER_PUBLIC_URL": url}


def test_the_setting_is_a_url_without_a_slash_at_its_end() -> None:
    assert load_settings(_given("")).public_url is None
    assert load_settings(_given("https://x.example/mail/")).public_url == "https://x.example/mail"


@pytest.mark.parametrize(
    "wrong",
    ["ledger.example.com", "ftp://x", "https://", "https://x?a=1", 'https://x"', "https://ü"],
)
def test_anything_else_stops_the_start(wrong: str) -> None:
    with pytest.raises(SettingsError, match="LEDGER_PUBLIC_URL"):
        load_settings(_given(wrong))
