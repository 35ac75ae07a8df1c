"""Mailgun: POST /v3/{domain}/messages. It takes no idempotency key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from sendledger.adapters.http_mailer import Mail, Request, member
from sendledger.permit import Permit


class Mailgun:
    """A provider for HttpMailer and AsyncHttpMailer; for the EU `url` is another."""

    name = "mailgun"

    def __init__(self, api_key: str, domain: str, url: str = "https://api.mailgun.net") -> None:
        self._key, self._domain, self._url = api_key, domain, url

    def request(self, permit: Permit, to: str, mail: Mail, headers: Mapping[str, str]) -> Request:
        """The send token goes with the mail as a variable, too: events show it."""
        form: dict[str, Any] = {
            "from": mail.sender,
            "to": to,
            "cc": list(permit.cc) or None,
            "subject": mail.subject,
            "text": mail.text,
            "html": mail.html,
            "h:Reply-To": mail.reply_to,
            "v:X-Ledger-Send": permit.send_token,
            **{f"h:{name}": value for name, value in headers.items()},
        }
        return Request(
            f"{self._url}/v3/{self._domain}/messages",
            form={name: value for name, value in form.items() if value is not None},
            auth=("api", self._key),
        )

    def provider_message_id(self, answer: httpx.Response) -> str | None:
        """The `id` of the answer, which is the Message-ID."""
        return member(answer, "id")
