"""A Celery application as teams write it: a task that mails, with the ledger asked first or not."""

import os
import smtplib
import time
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path

from celery import Celery
from sendledger import Denied, Ledger, kinds

app = Celery("mailing", broker=os.environ.get("MAILING_BROKER", "redis://127.0.0.1:1/0"))
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"visibility_timeout": 2, "polling_interval": 0.2},
)


@app.task(name="mailing.remind")
def remind(invoice_id: str, with_ledger: bool) -> str:
    """Mail one reminder; with the ledger by its client, which asks first and reports afterwards."""
    if not with_ledger:
        _mail(invoice_id, {})
        return "sent"
    ask = kinds.reminder(invoices=[invoice_id])
    with Ledger(os.environ["MAILING_LEDGER"], os.environ["MAILING_KEY"]) as ledger:
        try:
            return ledger.send_once(ask, send=lambda p: _mail(invoice_id, p.headers)).state
        except Denied as denied:
            return denied.code


def _mail(invoice_id: str, headers: Mapping[str, str]) -> None:
    message = EmailMessage()
    for name, value in headers.items():
        message[name] = value
    message["From"], message["To"] = "dunning@ours.example", "pat@theirs.example"
    message["Subject"] = invoice_id
    message.set_content("A reminder.")
    with smtplib.SMTP("127.0.0.1", int(os.environ["MAILING_SMTP_PORT"])) as smtp:
        smtp.send_message(message)
    _be_slow()


def _be_slow() -> None:
    """Stay in the middle of the send until the test lets go: the task is not acknowledged yet."""
    gate = Path(os.environ["MAILING_GATE"])
    give_up = time.monotonic() + 60
    while gate.exists() and time.monotonic() < give_up:
        time.sleep(0.02)
