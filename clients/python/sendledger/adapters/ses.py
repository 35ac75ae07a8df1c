"""Amazon SES by boto3 (the client `sesv2`). Needs the extra `ses`.

SES takes no idempotency key and gives each mail a Message-ID of its own; its events show the header
X-Ledger-Send where they include the original headers.
"""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTP
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
)

from sendledger.adapters.addressing import dress, sender_of
from sendledger.delivery import Delivered, InDoubt, Refused
from sendledger.errors import LedgerError
from sendledger.permit import Permit

_NEVER_SENT = (
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
)


class SesMailer:
    """Hands mails over by boto3's client for `sesv2`.

    Make it with `config=botocore.config.Config(retries={"total_max_attempts": 1})`. Raises
    LedgerError for a client that repeats requests by itself: a repeat after a time-out is a second
    mail.
    """

    def __init__(self, client: Any, configuration_set: str | None = None) -> None:
        retries = client.meta.config.retries or {}
        if retries.get("total_max_attempts") != 1:
            raise LedgerError(
                'the client repeats requests: give it Config(retries={"total_max_attempts": 1})'
            )
        self._client = client
        self._more = {"ConfigurationSetName": configuration_set} if configuration_set else {}

    def send(self, permit: Permit, message: EmailMessage) -> Delivered:
        """Hand the message over. Raises Refused or InDoubt."""
        recipients = dress(permit, message)
        try:
            answer = self._client.send_email(
                FromEmailAddress=sender_of(message),
                Destination={"ToAddresses": recipients},
                Content={"Raw": {"Data": message.as_bytes(policy=SMTP)}},
                **self._more,
            )
        except ClientError as error:
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            if 400 <= status < 500 and status != 408:
                raise Refused(f"ses answered {status}") from error
            raise InDoubt(f"ses answered {status}") from error
        except _NEVER_SENT as error:
            raise Refused(f"ses: {type(error).__name__}") from error
        except BotoCoreError as error:
            raise InDoubt(f"ses: {type(error).__name__}") from error
        found = answer.get("MessageId")
        return Delivered(found if isinstance(found, str) else None, "ses")
