"""smtplib: hands a mail over on a connection of its own."""

from __future__ import annotations

import contextlib
import smtplib
from collections.abc import Callable
from email.message import EmailMessage

from sendledger.adapters.smtp_dialogue import Broken, Step, dialogue
from sendledger.delivery import Delivered, Refused
from sendledger.permit import Permit


class SmtpMailer:
    """Hands mails over by smtplib.

    `connect` opens a connection and logs in, such as `lambda: smtplib.SMTP("localhost")`.
    """

    def __init__(self, connect: Callable[[], smtplib.SMTP]) -> None:
        self._connect = connect

    def send(self, permit: Permit, message: EmailMessage) -> Delivered:
        """Hand the message over. Raises Refused or InDoubt."""
        try:
            connection = self._connect()
            connection.ehlo_or_helo_if_needed()
        except (OSError, smtplib.SMTPException) as error:
            raise Refused(f"no SMTP connection: {type(error).__name__}") from error
        try:
            return _talk(connection, permit, message)
        finally:
            with contextlib.suppress(OSError, smtplib.SMTPException):
                connection.quit()


def _talk(connection: smtplib.SMTP, permit: Permit, message: EmailMessage) -> Delivered:
    talk = dialogue(permit, message, connection.has_extn("smtputf8"))
    try:
        step = next(talk)
        while True:
            try:
                code = _perform(connection, step)
            except smtplib.SMTPDataError as error:
                step = talk.send(error.smtp_code)
            except (OSError, smtplib.SMTPException):
                step = talk.throw(Broken())
            else:
                step = talk.send(code)
    except StopIteration as stop:
        delivered: Delivered = stop.value
        return delivered


def _perform(connection: smtplib.SMTP, step: Step) -> int:
    if step.command == "mail":
        return connection.mail(step.argument, step.options)[0]
    if step.command == "rcpt":
        return connection.rcpt(step.argument)[0]
    return connection.data(step.content)[0]
