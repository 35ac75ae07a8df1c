"""Basic credentials: split on the first colon, any of several, and nothing else passes."""

import base64

import pytest

from api.webhooks.provider import BadSignature
from api.webhooks.signatures.basic import check_basic


def header(text: str, scheme: str = "Basic", encoding: str = "utf-8") -> dict[str, str]:
    token = base64.b64encode(text.encode(encoding)).decode()
    return {"authorization": f"{scheme} {token}"}


@pytest.mark.parametrize(
    "credentials", ["hook:pa:ss", "hook:", ":pass", "ü:pässwörd", "a:" + "b" * 999]
)
def test_the_right_credentials_pass(credentials: str) -> None:
    check_basic(header(credentials), [credentials])
    check_basic(header(credentials, "bAsIc"), ["other:one", credentials])


@pytest.mark.parametrize(
    "given",
    [
        "hook",
        "hook:pa",
        "hook:pa:s",
        "hook:pa:sss",
        "hook:pass",
        "Hook:pa:ss",
        "hook:pa:SS",
        ":",
        "",
        "hook:pa:ss\n",
        " hook:pa:ss",
        "pa:ss",
    ],
)
def test_wrong_credentials_are_refused(given: str) -> None:
    with pytest.raises(BadSignature):
        check_basic(header(given), ["hook:pa:ss"])


@pytest.mark.parametrize(
    "value",
    ["", "Basic", "Basic ", "Basic !!!!", "Basic é", "Bearer aG9vazpwYTpzcw==", "aG9vazpwYTpzcw=="],
)
def test_malformed_credentials_are_refused(value: str) -> None:
    with pytest.raises(BadSignature):
        check_basic({"authorization": value}, ["hook:pa:ss"])


def test_another_encoding_is_refused() -> None:
    with pytest.raises(BadSignature):
        check_basic(header("ü:pässwörd", encoding="latin-1"), ["ü:pässwörd"])


@pytest.mark.parametrize("secret", ["", "no colon"])
def test_a_secret_that_is_no_pair_matches_nothing(secret: str) -> None:
    with pytest.raises(BadSignature):
        check_basic(header(secret), [secret])


def test_no_credentials_configured_means_no_entry() -> None:
    with pytest.raises(BadSignature):
        check_basic(header(":"), [])
