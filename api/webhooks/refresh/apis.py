"""The provider APIs from which changed objects can be fetched: one entry each."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from api.webhooks.provider import Settings, Translation
from api.webhooks.providers.recurly_fetched import API_PATHS, translate_fetched


@dataclass(frozen=True)
class ProviderApi:
    """A provider's API: the paths of its objects, its authentication, and its translation.

    `paths` has a path for each kind of object, with a placeholder for its percent-encoded id.
    """

    name: str
    default_url: str
    paths: Mapping[str, str]
    headers: Callable[[str], dict[str, str]]
    translate: Callable[[str, bytes, Settings], Translation]


@dataclass(frozen=True)
class ApiAccess:
    """The settings `LEDGER_<PROVIDER>_API_URL` and `…_API_KEY`."""

    url: str
    key: str = field(repr=False)


class BadApiSetting(ValueError):
    """A setting of a provider's API is invalid; the message names it."""


def _recurly_headers(key: str) -> dict[str, str]:
    """The key is the user name, without a password; recurly_fetched parses this API version."""
    token = base64.b64encode(f"{key}:".encode()).decode()
    return {
        "Authorization": f"Basic {token}",
        "Accept": "application/vnd.recurly.v2021-02-25",
        "User-Agent": "send-ledger",
    }


APIS: dict[str, ProviderApi] = {
    api.name: api
    for api in (
        ProviderApi(
            "recurly", "https://v3.recurly.com", API_PATHS, _recurly_headers, translate_fetched
        ),
    )
}
"""https://recurly.com/developers/api/v2021-02-25/; sites in the EU set `v3.eu.recurly.com`."""


def address_of(api: ProviderApi, access: ApiAccess, object_kind: str, object_id: str) -> str | None:
    """The URL of an object; None for a kind that the API does not have."""
    path = api.paths.get(object_kind)
    if path is None:
        return None
    return access.url.rstrip("/") + path.format(quote(object_id, safe=""))


def read_api_access(env: Mapping[str, str]) -> dict[str, ApiAccess]:
    """Read the configured APIs from the environment. Raises BadApiSetting."""
    found: dict[str, ApiAccess] = {}
    for name, api in APIS.items():
        prefix = f"LEDGER_{name.upper()}_API_"
        url, key = env.get(prefix + "URL", "").strip(), env.get(prefix + "KEY", "").strip()
        if url and not key:
            raise BadApiSetting(f"{prefix}URL needs {prefix}KEY")
        if not key:
            continue
        url = url or api.default_url
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query:
            raise BadApiSetting(f"{prefix}URL must be an http or https address")
        found[name] = ApiAccess(url, key)
    return found
