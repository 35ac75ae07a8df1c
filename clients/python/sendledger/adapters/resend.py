"""Resend: POST /emails, with the permit's key as its Idempotency-Key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from sendledger.adapters.http_mailer import Mail, Request, member
from sendledger.permit import Permit

_LONGEST_TAG = 256


class Resend:
    """A provider for HttpMailer and AsyncHttpMailer."""

    name = "resend"

    def __init__(self, api_key: str, url: str = "https://api.resend.com") -> None:
        self._key, self._url = api_key, url

    def request(self, permit: Permit, to: str, mail: Mail, headers: Mapping[str, str]) -> Request:
        """The send token goes with the mail as a tag, too: events show it."""
        body: dict[str, Any] = {
            "from": mail.sender,
            "to": [to],
            "cc": list(permit.cc) or None,
            "subject": mail.subject,
            "text": mail.text,
            "html": mail.html,
            "reply_to": mail.reply_to,
            "headers": dict(headers),
        }
        token = permit.send_token
        if token and len(token) <= _LONGEST_TAG and " " not in token:
            body["tags"] = [{"name": "X-Ledger-Send", "value": token}]
        key = permit.provider_idempotency_key or permit.permit_id
        return Request(
            f"{self._url}/emails",
            {"Authorization": f"Bearer {self._key}", "Idempotency-Key": key},
            {name: value for name, value in body.items() if value is not None},
        )

    def provider_message_id(self, answer: httpx.Response) -> str | None:
        """The `id` of the answer."""
        return member(answer, "id")
