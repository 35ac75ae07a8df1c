"""A Celery application as teams write it: a task that mails, with the ledger asked first or not."""

import os
import smtplib
import time
from email.message import EmailMessage
from pathlib import Path

import httpx
from celery import Celery

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
    """Mail one reminder; with the ledger only after its yes, reported afterwards."""
    permit_id = None
    if with_ledger:
        permit_id = _permit(invoice_id)
        if permit_id is None:
            return "denied"
    _mail(invoice_id)
    _be_slow()
    if permit_id is not None:
        _call(f"/v1/permits/{permit_id}/outcome", {"outcome": "sent"})
    return "sent"


def _permit(invoice_id: str) -> str | None:
    asked = {"kind": "reminder", "invoices": [invoice_id], "redeem": True}
    answer = _call("/v1/permits", asked)
    permit_id: str = answer.json()["permit_id"] if answer.status_code == 201 else ""
    return permit_id or None


def _call(path: str, body: dict[str, object]) -> httpx.Response:
    headers = {"Authorization": f"Bearer {os.environ['MAILING_KEY']}"}
    return httpx.post(os.environ["MAILING_LEDGER"] + path, json=body, headers=headers, timeout=30)


def _mail(invoice_id: str) -> None:
    message = EmailMessage()
    message["From"], message["To"] = "dunning@ours.example", "pat@theirs.example"
    message["Subject"] = invoice_id
    message.set_content("A reminder.")
    with smtplib.SMTP("127.0.0.1", int(os.environ["MAILING_SMTP_PORT"])) as smtp:
        smtp.send_message(message)


def _be_slow() -> None:
    """Stay in the middle of the send until the test lets go: the task is not acknowledged yet."""
    gate = Path(os.environ["MAILING_GATE"])
    give_up = time.monotonic() + 60
    while gate.exists() and time.monotonic() < give_up:
        time.sleep(0.02)
