"""Commune by its own client (`commune-mail`, from commune import CommuneClient).

It takes headers, no idempotency key, and repeats no request. Needs the extra `commune`.
"""

from __future__ import annotations

from typing import Any

import httpx

from sendledger.adapters.addressing import check_time, recipients_for
from sendledger.adapters.http_mailer import Mail
from sendledger.delivery import Delivered, InDoubt, Refused
from sendledger.permit import Permit

_REFUSALS = frozenset({400, 401, 403, 404, 422, 429})


class CommuneMailer:
    """Hands mails over by a CommuneClient; `domain_id` or `inbox_id` say from where.

    The mail's `sender` is Commune's `from_address`.
    """

    def __init__(self, client: Any, **where: str) -> None:
        self._client, self._where = client, where

    def send(self, permit: Permit, mail: Mail, thread_id: str | None = None) -> Delivered:
        """Hand the mail over, into a thread of Commune's. Raises Refused or InDoubt."""
        check_time(permit)
        to, *_ = recipients_for(permit, mail.to, [])
        try:
            answer = self._client.messages.send(
                to=to,
                cc=list(permit.cc) or None,
                subject=mail.subject,
                text=mail.text,
                html=mail.html,
                from_address=mail.sender,
                reply_to=mail.reply_to,
                thread_id=thread_id,
                headers={**mail.headers, **permit.headers},
                **self._where,
            )
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Refused(f"commune: {type(error).__name__}") from error
        except Exception as error:
            status = getattr(error, "status_code", None)
            if status in _REFUSALS:
                raise Refused(f"commune answered {status}") from error
            raise InDoubt(f"commune: {status or type(error).__name__}") from error
        return Delivered(_text(answer, "id"), "commune", _text(answer, "message_id"))


def _text(answer: Any, name: str) -> str | None:
    value = getattr(answer, name, None)
    return value if isinstance(value, str) else None
