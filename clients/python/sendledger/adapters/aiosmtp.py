"""aiosmtplib: hands a mail over on a connection of its own. Needs the extra `aiosmtplib`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from email.message import EmailMessage

import aiosmtplib

from sendledger.adapters.smtp_dialogue import Broken, Step, dialogue
from sendledger.delivery import Delivered, Refused
from sendledger.permit import Permit


class AioSmtpMailer:
    """Hands mails over by aiosmtplib.

    `make` makes a client that is not connected yet, such as
    `lambda: aiosmtplib.SMTP("localhost", 587, username=…, password=…)`.
    """

    def __init__(self, make: Callable[[], aiosmtplib.SMTP]) -> None:
        self._make = make

    async def send(self, permit: Permit, message: EmailMessage) -> Delivered:
        """Hand the message over. Raises Refused or InDoubt."""
        client = self._make()
        try:
            await client.connect()
            if client.is_ehlo_or_helo_needed:
                await client.ehlo()
        except (OSError, aiosmtplib.SMTPException) as error:
            client.close()
            raise Refused(f"no SMTP connection: {type(error).__name__}") from error
        try:
            return await _talk(client, permit, message)
        finally:
            with contextlib.suppress(OSError, aiosmtplib.SMTPException):
                await client.quit()


async def _talk(client: aiosmtplib.SMTP, permit: Permit, message: EmailMessage) -> Delivered:
    talk = dialogue(permit, message, client.supports_extension("smtputf8"))
    try:
        step = next(talk)
        while True:
            try:
                code = await _perform(client, step)
            except aiosmtplib.SMTPResponseException as error:
                step = talk.send(error.code)
            except (OSError, aiosmtplib.SMTPException):
                step = talk.throw(Broken())
            else:
                step = talk.send(code)
    except StopIteration as stop:
        delivered: Delivered = stop.value
        return delivered


async def _perform(client: aiosmtplib.SMTP, step: Step) -> int:
    if step.command == "mail":
        options = list(step.options)
        return (await client.mail(step.argument, options=options, encoding="utf-8")).code
    if step.command == "rcpt":
        return (await client.rcpt(step.argument, encoding="utf-8")).code
    return (await client.data(step.content)).code
