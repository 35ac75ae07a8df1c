"""Posts webhook bodies to a service under test, signed at a time of its clock."""

import base64
import hashlib
import hmac
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.service import Answer, Client

_RESEND_KEY = base64.b64encode(b"the key that Resend signs with")
_SENDGRID_KEY = ec.generate_private_key(ec.SECP256R1())
_PUBLIC = _SENDGRID_KEY.public_key().public_bytes(
    serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
)
SECRETS = {
    "stripe": "whsec_stripe",
    "chargebee": "hook:chargebee",
    "recurly": "recurly_signing_key,hook:recurly",
    "commune": "whsec_commune",
    "resend": "whsec_" + _RESEND_KEY.decode(),
    "postmark": "hook:postmark",
    "sendgrid": base64.b64encode(_PUBLIC).decode(),
    "mailgun": "mailgun_key",
}


def environment(mode: str = "test", **more: str) -> dict[str, str]:
    """The settings of a service that takes all of them."""
    found = {}
    for name, secret in SECRETS.items():
        found[f"LEDGER_WEBHOOK_{name.upper()}_SECRET"] = secret
        found[f"LEDGER_WEBHOOK_{name.upper()}_MODE"] = mode
    return found | more


@dataclass(frozen=True)
class Post:
    """A signed post to one provider's endpoint."""

    provider: str
    headers: dict[str, str]
    body: bytes

    def to(self, somebody: Client) -> Answer:
        """Post it; no API key goes with it."""
        return Client(somebody.http, "").call(
            "POST", f"/v1/webhooks/{self.provider}", content=self.body, headers=self.headers
        )


def signed(provider: str, body: bytes, at: datetime, delivery: str | None = None) -> Post:
    """The body with what its provider proves itself with; `delivery` names one try of one event."""
    return _SIGN[provider](provider, body, at, delivery or uuid.uuid4().hex)


def signed_json(provider: str, body: Any, at: datetime, delivery: str | None = None) -> Post:
    """A JSON value, posted."""
    return signed(provider, json.dumps(body).encode(), at, delivery)


def _hmac(key: str | bytes, text: bytes) -> "hmac.HMAC":
    return hmac.new(key.encode() if isinstance(key, str) else key, text, hashlib.sha256)


def _stripe(provider: str, body: bytes, at: datetime, delivery: str) -> Post:
    seconds = str(int(at.timestamp()))
    digest = _hmac(SECRETS["stripe"], f"{seconds}.".encode() + body).hexdigest()
    return Post(provider, {"stripe-signature": f"t={seconds},v1={digest}"}, body)


def _basic(provider: str, body: bytes, at: datetime, delivery: str) -> Post:
    credentials = SECRETS[provider].rpartition(",")[2]
    token = base64.b64encode(credentials.encode()).decode()
    return Post(provider, {"authorization": f"Basic {token}"}, body)


def _recurly(provider: str, body: bytes, at: datetime, delivery: str) -> Post:
    if body.lstrip().startswith(b"<"):
        return _basic(provider, body, at, delivery)
    millis = str(int(at.timestamp() * 1000))
    key = SECRETS["recurly"].partition(",")[0]
    digest = _hmac(key, f"{millis}.".encode() + body).hexdigest()
    headers = {"recurly-signature": f"{millis},{digest}", "recurly-notification-id": delivery}
    return Post(provider, headers, body)


def _commune(provider: str, body: bytes, at: datetime, delivery: str) -> Post:
    millis = str(int(at.timestamp() * 1000))
    digest = _hmac(SECRETS["commune"], f"{millis}.".encode() + body).hexdigest()
    headers = {
        "x-commune-signature": f"v1={digest}",
        "x-commune-timestamp": millis,
        "x-commune-delivery-id": delivery,
    }
    return Post(provider, headers, body)


def _resend(provider: str, body: bytes, at: datetime, delivery: str) -> Post:
    seconds = str(int(at.timestamp()))
    text = f"msg_{delivery}.{seconds}.".encode() + body
    digest = base64.b64encode(_hmac(base64.b64decode(_RESEND_KEY), text).digest()).decode()
    headers = {
        "svix-id": f"msg_{delivery}",
        "svix-timestamp": seconds,
        "svix-signature": f"v1,{digest}",
    }
    return Post(provider, headers, body)


def _sendgrid(provider: str, body: bytes, at: datetime, delivery: str) -> Post:
    seconds = str(int(at.timestamp()))
    signature = _SENDGRID_KEY.sign(seconds.encode() + body, ec.ECDSA(hashes.SHA256()))
    prefix = "x-twilio-email-event-webhook"
    encoded = base64.b64encode(signature).decode()
    headers = {f"{prefix}-timestamp": seconds, f"{prefix}-signature": encoded}
    return Post(provider, headers, body)


def _mailgun(provider: str, body: bytes, at: datetime, delivery: str) -> Post:
    """The signature is a part of the body; a body that is no JSON object cannot carry one."""
    members = json.loads(body)
    seconds, token = str(int(at.timestamp())), delivery.ljust(50, "0")
    members["signature"] = {
        "timestamp": seconds,
        "token": token,
        "signature": _hmac(SECRETS["mailgun"], (seconds + token).encode()).hexdigest(),
    }
    return Post(provider, {}, json.dumps(members).encode())


_SIGN: dict[str, Callable[[str, bytes, datetime, str], Post]] = {
    "stripe": _stripe,
    "chargebee": _basic,
    "recurly": _recurly,
    "commune": _commune,
    "resend": _resend,
    "postmark": _basic,
    "sendgrid": _sendgrid,
    "mailgun": _mailgun,
}
