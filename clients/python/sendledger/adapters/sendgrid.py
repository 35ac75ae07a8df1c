"""SendGrid: POST /v3/mail/send. It takes no idempotency key."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parseaddr
from typing import Any

import httpx

from sendledger.adapters.http_mailer import Mail, Request
from sendledger.permit import Permit


class SendGrid:
    """A provider for HttpMailer and AsyncHttpMailer."""

    name = "sendgrid"

    def __init__(self, api_key: str, url: str = "https://api.sendgrid.com") -> None:
        self._key, self._url = api_key, url

    def request(self, permit: Permit, to: str, mail: Mail, headers: Mapping[str, str]) -> Request:
        """The send token goes with the mail as a custom argument, too: events show it."""
        who: dict[str, Any] = {"to": [{"email": to}]}
        if permit.cc:
            who["cc"] = [{"email": address} for address in permit.cc]
        contents = [("text/plain", mail.text), ("text/html", mail.html)]
        body: dict[str, Any] = {
            "personalizations": [who],
            "from": _named(mail.sender),
            "subject": mail.subject,
            "content": [{"type": kind, "value": text} for kind, text in contents if text],
            "headers": dict(headers),
        }
        if mail.reply_to:
            body["reply_to"] = _named(mail.reply_to)
        if permit.send_token:
            body["custom_args"] = {"X-Ledger-Send": permit.send_token}
        return Request(f"{self._url}/v3/mail/send", {"Authorization": f"Bearer {self._key}"}, body)

    def provider_message_id(self, answer: httpx.Response) -> str | None:
        """The header X-Message-Id; events have it with a suffix."""
        found: str | None = answer.headers.get("x-message-id")
        return found


def _named(address: str) -> dict[str, str]:
    name, bare = parseaddr(address)
    return {"email": bare or address, **({"name": name} if name else {})}
