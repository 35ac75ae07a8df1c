"""A correctly signed webhook for each kind of signature, for tests that tamper with it."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from api.webhooks.provider import Settings
from tests.unit.webhooks.bodies import PAYLOADS, known, settings


@dataclass(frozen=True)
class Signed:
    """A delivery, the secret it was made with, and when it was made."""

    provider: str
    headers: dict[str, str]
    body: bytes
    secret: str
    now: datetime

    def settings(self, *secrets: str) -> Settings:
        """Settings with the delivery's own secret, or others."""
        return settings(self.provider, secrets=secrets or (self.secret,))

    def verify(self, *secrets: str) -> None:
        """Verify it; raises BadSignature."""
        known(self.provider).verify(self.headers, self.body, self.settings(*secrets), self.now)

    def with_header(self, name: str, value: str | None) -> "Signed":
        """The delivery with another header, or without it."""
        headers = {key: text for key, text in self.headers.items() if key != name}
        return replace(self, headers=headers if value is None else headers | {name: value})

    def later(self, by: timedelta) -> "Signed":
        """The same delivery, verified at another time."""
        return replace(self, now=self.now + by)


def published() -> dict[str, Signed]:
    """The vectors of signature_vectors.json, by provider; Standard Webhooks as Resend's."""
    vectors = json.loads((PAYLOADS / "signature_vectors.json").read_text())
    return {vector["provider"]: _signed(vector) for vector in vectors}


def _signed(vector: dict[str, object]) -> Signed:
    provider = str(vector["provider"])
    raw = vector["headers"]
    assert isinstance(raw, dict)
    headers = {name.lower(): text for name, text in raw.items()}
    if provider == "mailgun":
        return _mailgun(vector)
    if provider == "chargebee":
        secret = f"{vector['username']}:{vector['password']}"
        return Signed("chargebee", headers, b"{}", secret, datetime(2026, 12, 1, tzinfo=UTC))
    name = "resend" if provider == "standardwebhooks" else provider
    now = datetime.fromtimestamp(float(str(vector["now"])), UTC)
    return Signed(name, headers, str(vector["body"]).encode(), str(vector["secret"]), now)


def _mailgun(vector: dict[str, object]) -> Signed:
    message = str(vector["signed_message"])
    signature = {
        "timestamp": message[:10],
        "token": message[10:],
        "signature": vector["signature"],
    }
    body = json.dumps({"signature": signature, "event-data": {}}).encode()
    now = datetime.fromtimestamp(int(message[:10]) + 60, UTC)
    return Signed("mailgun", {}, body, str(vector["secret"]), now)


def svix() -> Signed:
    """A delivery signed for the `svix-` headers."""
    key = b"another key of Resend's"
    body = b'{"type": "email.sent"}'
    digest = hmac.new(key, b"msg_1.1700000000." + body, hashlib.sha256).digest()
    headers = {
        "svix-id": "msg_1",
        "svix-timestamp": "1700000000",
        "svix-signature": "v1," + base64.b64encode(digest).decode(),
    }
    secret = "whsec_" + base64.b64encode(key).decode()
    return Signed("resend", headers, body, secret, datetime.fromtimestamp(1700000030, UTC))


def sendgrid() -> Signed:
    """A delivery signed with a fresh ECDSA key; the secret is its public half."""
    private = ec.generate_private_key(ec.SECP256R1())
    body = b'[{"event": "processed"}]\r\n'
    signature = private.sign(b"1700000000" + body, ec.ECDSA(hashes.SHA256()))
    public = private.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    headers = {
        "x-twilio-email-event-webhook-timestamp": "1700000000",
        "x-twilio-email-event-webhook-signature": base64.b64encode(signature).decode(),
    }
    now = datetime.fromtimestamp(1700000030, UTC)
    return Signed("sendgrid", headers, body, base64.b64encode(public).decode(), now)


def basic(provider: str, credentials: str, body: bytes = b"{}") -> Signed:
    """A delivery with Basic credentials."""
    token = base64.b64encode(credentials.encode()).decode()
    headers = {"authorization": f"Basic {token}"}
    return Signed(provider, headers, body, credentials, datetime(2026, 12, 1, tzinfo=UTC))
