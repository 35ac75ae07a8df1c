"""SNS signatures, with a certificate authority of our own standing in for Amazon's."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import NameOID

from api.webhooks.provider import BadSignature, Rejected, Translation
from api.webhooks.signatures.sns_signature import is_sns_certificate
from tests.unit.webhooks.bodies import known, settings

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
TOPIC = "arn:aws:sns:us-east-1:123456789012:SES_Events"
ADDRESS = "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123.pem"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def certificate(
    key: Any = KEY, valid_from: datetime = NOW - timedelta(days=1), days: int = 30
) -> bytes:
    """A certificate for the key, signed by an authority made for it."""
    authority = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(valid_from)
        .not_valid_after(valid_from + timedelta(days=days))
        .sign(authority, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )


CERTIFICATE = certificate()


def envelope(**changes: object) -> dict[str, object]:
    """An unsigned notification."""
    return {
        "Type": "Notification",
        "MessageId": "19ba9823-d7f2-53c1-860e-cb10e0d13dfc",
        "TopicArn": TOPIC,
        "Subject": "Amazon SES Email Event Notification",
        "Message": '{"notificationType": "Received"}\n',
        "Timestamp": "2026-12-01T11:59:00.000Z",
        "SignatureVersion": "2",
        "SigningCertURL": ADDRESS,
        "UnsubscribeURL": "https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe",
    } | changes


def signed(members: dict[str, object], names: str, algorithm: Any = None) -> dict[str, object]:
    """The message with the signature over these fields, in this order."""
    text = "".join(f"{name}\n{members[name]}\n" for name in names.split())
    algorithm = algorithm or hashes.SHA256()
    signature = KEY.sign(text.encode(), padding.PKCS1v15(), algorithm)
    return members | {"Signature": base64.b64encode(signature).decode()}


NOTIFICATION = "Message MessageId Subject Timestamp TopicArn Type"
GOOD = signed(envelope(), NOTIFICATION)


class Host:
    """Where certificates are fetched from; remembers what was asked for."""

    def __init__(self, pem: bytes = CERTIFICATE) -> None:
        self.pem = pem
        self.asked: list[str] = []

    def fetch(self, address: str) -> bytes:
        """The certificate, whatever the address."""
        self.asked.append(address)
        return self.pem


def verify(
    members: dict[str, object],
    now: datetime = NOW,
    host: Host | None = None,
    topics: tuple[str, ...] = (TOPIC,),
) -> None:
    """Verify it; raises BadSignature."""
    fetch = (host or Host()).fetch
    configured = settings("ses", secrets=topics, fetch_certificate=fetch)
    known("ses").verify({}, json.dumps(members).encode(), configured, now)


def test_a_signed_notification_passes() -> None:
    host = Host()
    verify(GOOD, host=host)
    assert host.asked == [ADDRESS]


def test_a_notification_without_a_subject_passes() -> None:
    members = envelope()
    del members["Subject"]
    verify(signed(members, "Message MessageId Timestamp TopicArn Type"))


def test_the_older_sha1_signature_passes() -> None:
    verify(signed(envelope(SignatureVersion="1"), NOTIFICATION, hashes.SHA1()))


def test_a_signature_of_the_other_version_is_refused() -> None:
    for version in ("1", "3", 2, None):
        with pytest.raises(BadSignature):
            verify(GOOD | {"SignatureVersion": version})


@pytest.mark.parametrize("kind", ["SubscriptionConfirmation", "UnsubscribeConfirmation"])
def test_a_confirmation_is_signed_over_its_own_fields(kind: str) -> None:
    url = "https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription"
    members = envelope(Type=kind, Token="token", SubscribeURL=url)
    verify(signed(members, "Message MessageId SubscribeURL Timestamp Token TopicArn Type"))
    with pytest.raises(BadSignature):
        verify(signed(members, NOTIFICATION))


@pytest.mark.parametrize("name", [*NOTIFICATION.split(), "Signature"])
def test_a_changed_field_is_refused(name: str) -> None:
    text = str(GOOD[name])
    for value in (text[:-1] + chr(ord(text[-1]) ^ 1), text + "x", "", None, 7):
        with pytest.raises(BadSignature):
            verify(GOOD | {name: value})


def test_a_topic_of_somebody_else_is_refused_before_anything_is_fetched() -> None:
    other = TOPIC.replace("123456789012", "999999999999")
    host = Host()
    with pytest.raises(BadSignature):
        verify(signed(envelope(TopicArn=other), NOTIFICATION), host=host)
    assert host.asked == []


def test_several_topics_may_post() -> None:
    verify(GOOD, topics=("arn:aws:sns:eu-west-1:123456789012:Other", TOPIC))


@pytest.mark.parametrize(
    "address",
    [
        "http://sns.us-east-1.amazonaws.com/a.pem",
        "https://sns.us-east-1.amazonaws.com.example.com/a.pem",
        "https://example.com/sns.us-east-1.amazonaws.com/a.pem",
        "https://sns.us-east-1.amazonaws.com@example.com/a.pem",
        "https://user@sns.us-east-1.amazonaws.com/a.pem",
        "https://sns.us-east-1.amazonaws.com:8443/a.pem",
        "https://sns.us-east-1.amazonaws.com/a.pem?x=1",
        "https://sns.us-east-1.amazonaws.com/a.pem#x",
        "https://sns.us-east-1.amazonaws.com/a.txt",
        "https://s3.us-east-1.amazonaws.com/a.pem",
        "https://sns.us-east-1.evil.amazonaws.com/a.pem",
        "https://sns.amazonaws.com/a.pem",
        "https://[::1/a.pem",
        "file:///etc/a.pem",
        "",
    ],
)
def test_a_certificate_from_elsewhere_is_refused_unfetched(address: str) -> None:
    host = Host()
    with pytest.raises(BadSignature):
        verify(signed(envelope(SigningCertURL=address), NOTIFICATION), host=host)
    assert host.asked == []
    assert not is_sns_certificate(address)


@pytest.mark.parametrize(
    "host", ["sns.eu-central-1.amazonaws.com", "sns.cn-north-1.amazonaws.com.cn"]
)
def test_certificates_of_every_region_are_taken(host: str) -> None:
    assert is_sns_certificate(f"https://{host}/SimpleNotificationService-1.pem")


@pytest.mark.parametrize(
    ("by", "passes"),
    [
        (timedelta(hours=2, minutes=-1), True),
        (timedelta(hours=2, minutes=-1, milliseconds=1), False),
        (timedelta(minutes=-6), True),
        (timedelta(minutes=-6, milliseconds=-1), False),
    ],
)
def test_the_message_must_be_of_now(by: timedelta, passes: bool) -> None:
    if passes:
        verify(GOOD, NOW + by)
    else:
        with pytest.raises(BadSignature):
            verify(GOOD, NOW + by)


@pytest.mark.parametrize(
    "pem",
    [
        certificate(rsa.generate_private_key(public_exponent=65537, key_size=2048)),
        certificate(ec.generate_private_key(ec.SECP256R1())),
        certificate(valid_from=NOW - timedelta(days=60)),
        certificate(valid_from=NOW + timedelta(days=1)),
        b"",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ],
    ids=["other key", "not RSA", "expired", "not yet valid", "empty", "malformed"],
)
def test_another_certificate_is_refused(pem: bytes) -> None:
    with pytest.raises(BadSignature):
        verify(GOOD, host=Host(pem))


def test_without_a_way_to_fetch_certificates_nothing_passes() -> None:
    with pytest.raises(BadSignature):
        known("ses").verify({}, json.dumps(GOOD).encode(), settings("ses", secrets=(TOPIC,)), NOW)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"\xff", b"{" * 100, b"[" * 2**20])
def test_a_body_that_is_no_sns_message_is_refused(body: bytes) -> None:
    with pytest.raises(BadSignature):
        known("ses").verify({}, body, settings("ses", secrets=(TOPIC,)), NOW)


@pytest.mark.parametrize(
    ("kind", "rejection"),
    [
        ("SubscriptionConfirmation", "subscription_confirmation_needed"),
        ("UnsubscribeConfirmation", "subscription_removed"),
    ],
)
def test_a_confirmation_is_left_to_a_person(kind: str, rejection: str) -> None:
    body = json.dumps(envelope(Type=kind)).encode()
    translation = known("ses").translate({}, body, settings("ses"))
    (rejected,) = translation.rejected
    assert translation == Translation(rejected=(Rejected(rejection, rejected.detail),))
    assert "amazonaws" not in rejected.detail
