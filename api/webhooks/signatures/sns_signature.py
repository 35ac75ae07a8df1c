"""Verifies Amazon SNS messages: canonical string, certificate URL, RSA signature."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, HashAlgorithm

from api.webhooks.bodies.record import Record
from api.webhooks.bodies.unusable import Unusable
from api.webhooks.provider import BadSignature
from api.webhooks.signatures.strict_base64 import NotBase64, decode_base64

_HOST = re.compile(r"sns\.[a-z0-9-]{4,32}\.amazonaws\.com(\.cn)?", re.ASCII)
_PAST = timedelta(hours=2)
"""SNS retries an HTTPS endpoint for at most an hour."""
_FUTURE = timedelta(minutes=5)
_CONFIRMATION = tuple("Message MessageId SubscribeURL Timestamp Token TopicArn Type".split())
_SIGNED = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": _CONFIRMATION,
    "UnsubscribeConfirmation": _CONFIRMATION,
}
_HASHES: dict[str, HashAlgorithm] = {"1": SHA1(), "2": SHA256()}


def check_sns_signature(
    envelope: Record,
    topics: tuple[str, ...],
    fetch_certificate: Callable[[str], bytes] | None,
    now: datetime,
) -> None:
    """Raise BadSignature unless AWS signed this message of one of our topics within two hours.

    Anyone can make SNS sign a message of their own topic, so the topic must be one of ours.
    https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
    """
    try:
        if envelope.text("TopicArn") not in topics:
            raise BadSignature("the message is of a topic that may not post here")
        signed_at = envelope.time("Timestamp")
        canonical = _canonical(envelope)
        hash_algorithm = _HASHES.get(envelope.text("SignatureVersion"))
        signature = decode_base64(_plain(envelope, "Signature"))
        address = _plain(envelope, "SigningCertURL")
    except (Unusable, NotBase64, UnicodeEncodeError):
        raise BadSignature("the body is no signed SNS message") from None
    if not now - _PAST <= signed_at <= now + _FUTURE:
        raise BadSignature("the message is too old or from the future")
    if hash_algorithm is None or fetch_certificate is None or not is_sns_certificate(address):
        raise BadSignature("the certificate or the signature's version is not one of SNS")
    _verify(_public_key(fetch_certificate(address), now), signature, canonical, hash_algorithm)


def is_sns_certificate(address: str) -> bool:
    """Whether this is a certificate URL of SNS: https, a host of SNS, a .pem file."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return (
        parts.scheme == "https"
        and _HOST.fullmatch(parts.netloc) is not None
        and parts.path.endswith(".pem")
        and not parts.query
        and not parts.fragment
    )


def _canonical(envelope: Record) -> bytes:
    names = _SIGNED.get(envelope.text("Type"))
    if names is None:
        raise Unusable("wrong_type", "Type is none of SNS")
    given = [name for name in names if name != "Subject" or envelope.has("Subject")]
    return "".join(f"{name}\n{_plain(envelope, name)}\n" for name in given).encode("utf-8")


def _plain(envelope: Record, name: str) -> str:
    value = envelope.members.get(name)
    if not isinstance(value, str):
        raise Unusable("missing_field", f"{envelope.where(name)} is missing")
    return value


def _public_key(certificate: bytes, now: datetime) -> rsa.RSAPublicKey:
    try:
        loaded = x509.load_pem_x509_certificate(certificate)
        key = loaded.public_key()
    except (ValueError, UnsupportedAlgorithm):
        raise BadSignature("the certificate cannot be read") from None
    if not loaded.not_valid_before_utc <= now <= loaded.not_valid_after_utc:
        raise BadSignature("the certificate is not valid now")
    if not isinstance(key, rsa.RSAPublicKey):
        raise BadSignature("the certificate holds no RSA key")
    return key


def _verify(
    key: rsa.RSAPublicKey, signature: bytes, canonical: bytes, algorithm: HashAlgorithm
) -> None:
    try:
        key.verify(signature, canonical, padding.PKCS1v15(), algorithm)
    except (InvalidSignature, UnsupportedAlgorithm):
        raise BadSignature("the signature does not match") from None
