"""The providers' own libraries, each pointed at a gate by its base URL alone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mailgun.client
import resend
import sendgrid
from mailgun.config import RetryPolicy
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError
from python_http_client.exceptions import HTTPError

from tests.support.mail_provider import KEY

SENDER = "billing@acme.example"


@dataclass(frozen=True)
class Said:
    """What a program hears: the id of its mail, or the status of an error with its words."""

    mail_id: str = ""
    status: int = 200
    text: str = ""


@dataclass(frozen=True)
class Letter:
    """A mail as a program writes it."""

    to: str
    subject: str
    text: str = "It is on its way.\n"
    headers: dict[str, str] = field(default_factory=dict)


def by_resend(gate: str, letter: Letter) -> Said:
    """With `resend`."""
    resend.api_key, resend.api_url = KEY, f"{gate}/resend"
    try:
        sent = resend.Emails.send(
            {
                "from": f"Acme <{SENDER}>",
                "to": [letter.to],
                "subject": letter.subject,
                "text": letter.text,
                "headers": letter.headers,
            }
        )
    except resend.exceptions.ResendError as error:
        return Said("", int(error.code), f"{error.error_type}|{error.message}")
    return Said(sent["id"])


def by_postmarker(gate: str, letter: Letter) -> Said:
    """With `postmarker`, which takes a host alone: the gate's file has root = "postmark"."""
    client = PostmarkClient(server_token=KEY, root_api_url=gate)
    try:
        sent = client.emails.send(
            From=SENDER,
            To=letter.to,
            Subject=letter.subject,
            TextBody=letter.text,
            Headers=letter.headers,
        )
    except ClientError as error:
        return Said("", 422, str(error))
    return Said(sent["MessageID"])


def by_sendgrid(gate: str, letter: Letter) -> Said:
    """With `sendgrid`."""
    client = sendgrid.SendGridAPIClient(KEY, host=f"{gate}/sendgrid")
    message = sendgrid.Mail(
        from_email=SENDER,
        to_emails=letter.to,
        subject=letter.subject,
        plain_text_content=letter.text,
    )
    for name, value in letter.headers.items():
        message.add_header(sendgrid.Header(name, value))
    try:
        answer = client.send(message)
    except HTTPError as error:
        return Said("", error.status_code, error.to_dict["errors"][0]["message"])
    assert answer.status_code == 202
    return Said(answer.headers["X-Message-Id"])


def by_mailgun(gate: str, letter: Letter) -> Said:
    """With `mailgun`; it would repeat a 503 three times by itself."""
    client = mailgun.client.Client(
        auth=("api", KEY), api_url=f"{gate}/mailgun", retry_policy=RetryPolicy(max_retries=0)
    )
    data: dict[str, Any] = {
        "from": f"Acme <{SENDER}>",
        "to": letter.to,
        "subject": letter.subject,
        "text": letter.text,
        **{f"h:{name}": value for name, value in letter.headers.items()},
    }
    answer = client.messages.create(data=data, domain="acme.example")
    told = answer.json()
    if answer.status_code == 200:
        return Said(told["id"])
    return Said("", answer.status_code, told["message"])


SDKS: dict[str, Callable[[str, Letter], Said]] = {
    "resend": by_resend,
    "postmark": by_postmarker,
    "sendgrid": by_sendgrid,
    "mailgun": by_mailgun,
}
