"""Postmark: POST /email. It takes no idempotency key, so the permit alone keeps the mail single."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from sendledger.adapters.http_mailer import Mail, Request, member
from sendledger.delivery import InDoubt
from sendledger.permit import Permit

_LONGEST_METADATA = 80


class Postmark:
    """A provider for HttpMailer and AsyncHttpMailer; `stream` is the message stream."""

    name = "postmark"

    def __init__(
        self, server_token: str, stream: str = "outbound", url: str = "https://api.postmarkapp.com"
    ) -> None:
        self._token, self._stream, self._url = server_token, stream, url

    def request(self, permit: Permit, to: str, mail: Mail, headers: Mapping[str, str]) -> Request:
        """With X-PM-KeepID, so that the Message-ID stays the permit's."""
        carried = {**headers, "X-PM-KeepID": "true"}
        body: dict[str, Any] = {
            "From": mail.sender,
            "To": to,
            "Cc": ",".join(permit.cc) or None,
            "Subject": mail.subject,
            "TextBody": mail.text,
            "HtmlBody": mail.html,
            "ReplyTo": mail.reply_to,
            "MessageStream": self._stream,
            "Headers": [{"Name": name, "Value": value} for name, value in carried.items()],
        }
        token = permit.send_token
        if token and len(token) <= _LONGEST_METADATA:
            body["Metadata"] = {"X-Ledger-Send": token}
        return Request(
            f"{self._url}/email",
            {"X-Postmark-Server-Token": self._token, "Accept": "application/json"},
            {name: value for name, value in body.items() if value is not None},
        )

    def provider_message_id(self, answer: httpx.Response) -> str | None:
        """The `MessageID` of the answer. Raises InDoubt where a success has none, or an error."""
        found = member(answer, "MessageID")
        if found is None or answer.json().get("ErrorCode") != 0:
            raise InDoubt("postmark answered a success with an error code, or without an id")
        return found
