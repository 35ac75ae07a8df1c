"""What handing a mail over came to: delivered, certainly refused, or in doubt."""

from __future__ import annotations

import smtplib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sendledger.errors import LedgerError

Classify = Callable[[BaseException], "str | None"]
"""Says of an error why the mail certainly did not go out; None where that is not certain."""


@dataclass(frozen=True)
class Delivered:
    """The provider took the mail; `message_id` where it gave the mail another than the permit's."""

    provider_message_id: str | None = None
    provider: str | None = None
    message_id: str | None = None

    @classmethod
    def of(cls, result: Any) -> Delivered:
        """What a mailer returned: a Delivered, the provider's id, or a mapping with an `id`."""
        if isinstance(result, Delivered):
            return result
        if isinstance(result, Mapping):
            result = result.get("id")
        return cls(result if isinstance(result, str) else None)


class NotDelivered(LedgerError):
    """The mail was not taken, or nobody knows; `detail` holds no address."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Refused(NotDelivered):
    """The mail certainly did not go out: refused, or never handed over."""


class InDoubt(NotDelivered):
    """The mail may have gone out: the answer is missing or says neither."""


_BEFORE_DATA = (
    smtplib.SMTPSenderRefused,
    smtplib.SMTPHeloError,
    smtplib.SMTPAuthenticationError,
    smtplib.SMTPConnectError,
)


def certain_refusal(error: BaseException) -> str | None:
    """Why the mail certainly did not go out, None where the error does not prove that.

    Of errors that no adapter raised only those of smtplib are known, by the command that was
    refused. A server that answers 4yz or 5yz after the data must not deliver the mail (RFC 5321,
    section 4.2.5). A connection that broke proves nothing, and what came while an earlier try was
    in doubt says nothing of that one.
    """
    if isinstance(error, Refused):
        return error.detail
    before = error.__context__
    if isinstance(before, (OSError, NotDelivered)) and certain_refusal(before) is None:
        return None
    if isinstance(error, _BEFORE_DATA):
        return f"SMTP {error.smtp_code}"
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = sorted({code for code, _ in error.recipients.values()})
        return f"SMTP {', '.join(map(str, codes))} for every recipient"
    if isinstance(error, smtplib.SMTPDataError) and error.smtp_code >= 400:
        return f"SMTP {error.smtp_code} after the data"
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return "the SMTP server lacks what the mail needs"
    return None
