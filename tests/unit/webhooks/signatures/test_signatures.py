"""Signatures: right ones pass, and whatever is wrong with one is BadSignature and nothing else."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from api.webhooks.provider import BadSignature
from api.webhooks.registry import provider_names
from tests.unit.webhooks.bodies import known, settings
from tests.unit.webhooks.signed import Signed, basic, published, sendgrid, svix

VECTORS = published()
ALL = {
    **VECTORS,
    "svix": svix(),
    "sendgrid": sendgrid(),
    "postmark": basic("postmark", "hook:p:ss"),
    "recurly-xml": basic("recurly", "hook:p:ss", b"<new_account_notification/>"),
}
HMAC_BODY = ["stripe", "recurly", "standardwebhooks", "commune", "svix", "sendgrid"]
"""Deliveries whose signature covers timestamp and body, and what carries either."""
TIMESTAMP = {
    "stripe": "stripe-signature",
    "recurly": "recurly-signature",
    "standardwebhooks": "webhook-timestamp",
    "commune": "x-commune-timestamp",
    "svix": "svix-timestamp",
    "sendgrid": "x-twilio-email-event-webhook-timestamp",
}
SIGNATURE = TIMESTAMP | {
    "standardwebhooks": "webhook-signature",
    "commune": "x-commune-signature",
    "svix": "svix-signature",
    "sendgrid": "x-twilio-email-event-webhook-signature",
    "postmark": "authorization",
    "recurly-xml": "authorization",
    "chargebee": "authorization",
}
PAST = {"sendgrid": timedelta(hours=48), "mailgun": timedelta(hours=12)}


def refused(delivery: Signed, *secrets: str) -> bool:
    """Whether it is refused, with a message that holds no secret and none of the signature."""
    with pytest.raises(BadSignature) as error:
        delivery.verify(*secrets)
    message = str(error.value)
    hidden = [delivery.secret, *secrets, *delivery.headers.values()]
    return message != "" and not any(len(text) > 8 and text in message for text in hidden)


def flipped(text: str) -> Iterator[str]:
    """The text with one character changed, for every place, within what a header may hold."""
    for place, letter in enumerate(text):
        yield text[:place] + chr((ord(letter) ^ 1) or 1) + text[place + 1 :]


@pytest.mark.parametrize("name", ALL)
def test_a_right_signature_passes(name: str) -> None:
    ALL[name].verify()


def test_every_provider_but_sns_is_tested_here() -> None:
    assert {delivery.provider for delivery in ALL.values()} == set(provider_names()) - {"ses"}


@pytest.mark.parametrize("name", HMAC_BODY)
def test_any_flipped_byte_of_the_body_is_refused(name: str) -> None:
    delivery = ALL[name]
    for place in range(0, len(delivery.body), 3):
        body = bytearray(delivery.body)
        body[place] ^= 1
        assert refused(replace(delivery, body=bytes(body)))


@pytest.mark.parametrize("name", HMAC_BODY)
@pytest.mark.parametrize("change", [b"", b" ", b"\n", b"{}"])
def test_a_longer_or_shorter_body_is_refused(name: str, change: bytes) -> None:
    delivery = ALL[name]
    assert refused(replace(delivery, body=delivery.body[:-1] + change * 2))


def covered_by(name: str, header: str) -> list[str]:
    """One-character changes of a header; Stripe's ignored v0 signature is left as it is."""
    ignored_from = header.find(",v0=")
    end = len(header) if ignored_from < 0 else ignored_from
    return list(flipped(header))[:end]


@pytest.mark.parametrize("name", SIGNATURE)
def test_any_flipped_character_of_the_signature_is_refused(name: str) -> None:
    delivery = ALL[name]
    header = SIGNATURE[name]
    values = covered_by(name, delivery.headers[header])
    assert len(values) >= 16
    for value in values:
        assert refused(delivery.with_header(header, value))


@pytest.mark.parametrize("name", TIMESTAMP)
def test_any_flipped_digit_of_the_timestamp_is_refused(name: str) -> None:
    delivery = ALL[name]
    header = TIMESTAMP[name]
    stamp = delivery.headers[header].removeprefix("t=").partition(",")[0]
    for value in flipped(stamp):
        changed = delivery.headers[header].replace(stamp, value, 1)
        assert refused(delivery.with_header(header, changed))


@pytest.mark.parametrize("name", SIGNATURE)
@pytest.mark.parametrize("value", [None, "", " ", ",", "=", "t=", "v1=", "Basic ", "é", "v1=é,t=é"])
def test_a_missing_empty_or_odd_header_is_refused(name: str, value: str | None) -> None:
    assert refused(ALL[name].with_header(SIGNATURE[name], value))


@pytest.mark.parametrize("name", TIMESTAMP)
@pytest.mark.parametrize("value", [None, "", "now", "-1", "1e9", "٣", "9" * 16, "1 700 000 000"])
def test_a_missing_or_odd_timestamp_is_refused(name: str, value: str | None) -> None:
    header = TIMESTAMP[name]
    stamp = ALL[name].headers[header].removeprefix("t=").partition(",")[0]
    changed = value if value is None else ALL[name].headers[header].replace(stamp, value, 1)
    assert refused(ALL[name].with_header(header, changed))


@pytest.mark.parametrize("name", [*TIMESTAMP, "mailgun"])
def test_an_expired_signature_is_refused_and_one_in_time_is_not(name: str) -> None:
    signed_at = signing_time(name)
    past = PAST.get(name, timedelta(minutes=5))
    replace(ALL[name], now=signed_at + past).verify()
    assert refused(replace(ALL[name], now=signed_at + past + timedelta(milliseconds=1)))


@pytest.mark.parametrize("name", [*TIMESTAMP, "mailgun"])
def test_a_signature_from_the_future_is_refused(name: str) -> None:
    signed_at = signing_time(name)
    replace(ALL[name], now=signed_at - timedelta(minutes=5)).verify()
    assert refused(replace(ALL[name], now=signed_at - timedelta(minutes=5, milliseconds=1)))


def signing_time(name: str) -> datetime:
    """When the delivery was signed, by its own timestamp."""
    seconds_after = {"stripe": 100, "svix": 30, "sendgrid": 30}
    if name == "recurly":
        return ALL[name].now - timedelta(seconds=59, milliseconds=996)
    return ALL[name].now - timedelta(seconds=seconds_after.get(name, 60))


@pytest.mark.parametrize("name", ALL)
def test_another_secret_is_refused(name: str) -> None:
    delivery = ALL[name]
    other = "other:secret" if ":" in delivery.secret else "b3RoZXI="
    assert refused(delivery, other)
    assert refused(delivery, delivery.secret[:-4])
    assert refused(delivery, "")


@pytest.mark.parametrize("name", ALL)
def test_secrets_can_be_changed_without_a_gap(name: str) -> None:
    delivery = ALL[name]
    other = "other:secret" if ":" in delivery.secret else "whsec_b3RoZXI="
    delivery.verify(other, delivery.secret)
    delivery.verify(delivery.secret, other)


@pytest.mark.parametrize("name", provider_names())
def test_without_a_secret_nothing_passes(name: str) -> None:
    delivery = next((d for d in ALL.values() if d.provider == name), ALL["chargebee"])
    with pytest.raises(BadSignature):
        known(name).verify(
            delivery.headers, delivery.body, settings(name, secrets=()), delivery.now
        )


@pytest.mark.parametrize("name", ["stripe", "recurly", "standardwebhooks", "svix"])
def test_one_right_signature_among_wrong_ones_is_enough(name: str) -> None:
    delivery = ALL[name]
    header = SIGNATURE[name]
    separator = " " if "svix" in name or "standard" in name else ","
    wrong = {"stripe": "v1=" + "0" * 64, "recurly": "0" * 64}.get(name, "v1,AAAA")
    value = delivery.headers[header]
    delivery.with_header(header, value + separator + wrong).verify()
    if separator == " ":
        delivery.with_header(header, wrong + separator + value).verify()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("stripe", "v1="), ("commune", "v1="), ("standardwebhooks", "v1,"), ("svix", "v1,")],
)
@pytest.mark.parametrize("scheme", ["v0", "v2", "V1", "v1a", ""])
def test_another_scheme_is_refused(name: str, wrong: str, scheme: str) -> None:
    delivery, header = ALL[name], SIGNATURE[name]
    changed = delivery.headers[header].replace(wrong, scheme + wrong[-1], 1)
    assert refused(delivery.with_header(header, changed))


def test_stripes_v0_signature_does_not_count() -> None:
    delivery = ALL["stripe"]
    value = delivery.headers["stripe-signature"]
    without_v1 = ",".join(part for part in value.split(",") if not part.startswith("v1="))
    assert refused(delivery.with_header("stripe-signature", without_v1))


@pytest.mark.parametrize("name", ["stripe", "recurly", "commune"])
def test_a_signature_in_base64_instead_of_hex_is_refused(name: str) -> None:
    delivery, header = ALL[name], SIGNATURE[name]
    value = delivery.headers[header]
    hexadecimal = max(value.replace("=", ",").split(",")[:4], key=len)
    encoded = base64.b64encode(bytes.fromhex(hexadecimal)).decode()
    assert refused(delivery.with_header(header, value.replace(hexadecimal, encoded)))


@pytest.mark.parametrize("name", ["standardwebhooks", "svix"])
def test_a_signature_in_hex_instead_of_base64_is_refused(name: str) -> None:
    delivery, header = ALL[name], SIGNATURE[name]
    raw = base64.b64decode(delivery.headers[header].partition(",")[2])
    assert refused(delivery.with_header(header, "v1," + raw.hex()))


@pytest.mark.parametrize("name", HMAC_BODY)
def test_a_body_that_is_not_utf_8_is_refused_not_an_error(name: str) -> None:
    assert refused(replace(ALL[name], body=b"\xff\xfe\x00"))


def test_two_timestamps_of_stripe_are_refused() -> None:
    delivery = ALL["stripe"]
    value = delivery.headers["stripe-signature"]
    assert refused(delivery.with_header("stripe-signature", value + ",t=1533204620"))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b'{"signature": 1}',
        b'{"signature": {}}',
        b'{"signature": {"timestamp": 1534110422, "token": "t", "signature": "s"}}',
        b'{"signature": {"timestamp": "1534110422", "token": "t", "signature": "\\u00e9"}}',
        b"[" * 2**20,
    ],
)
def test_a_mailgun_body_without_its_signature_is_refused(body: bytes) -> None:
    assert refused(replace(ALL["mailgun"], body=body))


def test_mailgun_signs_timestamp_and_token() -> None:
    body = ALL["mailgun"].body
    for old, new in ((b"1534110422", b"1534110423"), (b"651869", b"651868"), (b"2b5f", b"2b5e")):
        assert refused(replace(ALL["mailgun"], body=body.replace(old, new, 1)))


def test_once_a_key_is_configured_recurlys_json_must_be_signed() -> None:
    unsigned = basic("recurly", "hook:p:ss", b'{"object_type": "payment"}')
    unsigned.verify()
    assert refused(unsigned, "hook:p:ss", "a signing key")
    VECTORS["recurly"].verify("hook:p:ss", VECTORS["recurly"].secret)


@pytest.mark.parametrize("key", ["the subaccount's", "the primary account's"])
def test_mailgun_signs_for_the_subaccount_and_for_its_parent(key: str) -> None:
    now = datetime(2026, 12, 1, tzinfo=UTC)
    timestamp, token = str(int(now.timestamp())), "t" * 50
    keys = {"signature": "the subaccount's", "parent-signature": "the primary account's"}
    made = {
        name: hmac.new(text.encode(), (timestamp + token).encode(), hashlib.sha256).hexdigest()
        for name, text in keys.items()
    }
    signature = {"timestamp": timestamp, "token": token, **made}
    body = json.dumps({"signature": signature, "event-data": {}}).encode()
    delivery = Signed("mailgun", {}, body, key, now)
    delivery.verify()
    assert refused(replace(delivery, secret="another key"))
    for odd in (None, "", 5, [], "0" * 64):
        own = json.dumps({"signature": signature | {"parent-signature": odd}}).encode()
        replace(delivery, body=own, secret="the subaccount's").verify()
        assert refused(replace(delivery, body=own, secret="the primary account's"))
