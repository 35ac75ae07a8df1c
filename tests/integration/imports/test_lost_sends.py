"""Logs of sent mail settle sends whose permits were lost: by Message-ID, token, key or fields."""

import uuid
from pathlib import Path
from typing import Any

import pytest

from ledger.application.commands import RequestPermit
from ledger.application.kinds.notification import Notification, notification_key
from ledger.domain.permit import Lane
from ledger.domain.send_imprint import SendImprint
from ledger.domain.sendkey import provider_idempotency_key
from tests.integration.imports.test_import_samples import Later
from tests.integration.imports.test_sends_import import (
    BASICS,
    SENDER,
    Ledger,
    numbers,
    sent,
)
from tests.integration.imports.test_sends_import import ledger as ledger
from tests.support.build import customer
from tests.support.import_samples import SAMPLES

LOST = "4f5f6f7f-0000-4000-8000-000000000000"
KEY = notification_key("cus_1", "shipped", "ord_9")


def imprint(ledger: Ledger) -> str:
    """What the mail of the lost permit carries."""
    return SendImprint("n", Lane.OUTREACH, (ledger.identity.key_digest(KEY),)).text


def heard(ledger: Ledger, event_id: str = "ord_9") -> tuple[int, Any]:
    """Status and code of a request for the notice."""
    asked = Notification("shipped", event_id, "cus_1")
    (answer,) = ledger.decide(RequestPermit(asked, SENDER, str(uuid.uuid4()), b"{}"))
    return answer.status, answer.body.decode()


def denied(ledger: Ledger, code: str) -> bool:
    """Is the notice denied with this code, and another one not?"""
    status, body = heard(ledger)
    return status == 409 and f'"code":"{code}"' in body


@pytest.mark.parametrize("name", ["sent.mbox", "postfix_rfc5424.log", "exim_mainlog"])
def test_our_message_id_in_a_log_of_mails_settles_the_send(
    empty_database: str, tmp_path: Path, name: str
) -> None:
    ledger = Later(empty_database, tmp_path)
    ledger.told(customer("cus_1"))
    own = ledger.identity.message_id(LOST, imprint(ledger)).strip("<>")
    path = ledger.folder / name
    path.write_bytes((SAMPLES / name).read_bytes().replace(b"own.1@example.org", own.encode()))
    assert ledger.run(path, "--time-zone", "UTC").exit_code in (0, 3)
    assert denied(ledger, "already_sent")


def test_the_header_of_a_folder_of_sent_mail_settles_the_send(ledger: Ledger) -> None:
    ledger.told(customer("cus_1"))
    token = ledger.identity.send_token(LOST, imprint(ledger))
    folded = f"X-Ledger-Send: {token[:40]}\r\n {token[40:]}\r\n"
    path = mbox(ledger.folder, folded)
    assert numbers(ledger.run(path))["mails past the ledger"] == 1
    assert denied(ledger, "already_sent")
    assert "known already" in numbers(ledger.run(path))


def test_the_header_of_another_ledger_says_nothing(ledger: Ledger) -> None:
    ledger.told(customer("cus_1"))
    path = mbox(ledger.folder, f"X-Ledger-Send: {LOST}-no-0123456789abcdef\r\n")
    assert numbers(ledger.run(path))["mails past the ledger"] == 1
    assert heard(ledger)[0] == 201


def mbox(folder: Path, header: str) -> Path:
    """A folder with one sent mail that has this header."""
    path = folder / "sent.mbox"
    path.write_bytes(
        b"From x@example.org Wed Jul 15 07:00:00 2026\r\n"
        b"Date: Wed, 15 Jul 2026 07:00:00 +0000\r\n"
        b"To: pat@example.com\r\n" + header.encode() + b"\r\nHello\r\n"
    )
    return path


COLUMNS = {
    "token": "--send-token",
    "provider_key": "--provider-key",
    "header": "--message-id",
}


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_of_what_the_mail_carried_settles_the_send(ledger: Ledger, column: str) -> None:
    ledger.told(customer("cus_1"))
    values = {
        "token": ledger.identity.send_token(LOST, imprint(ledger)),
        "provider_key": provider_idempotency_key((KEY,), 0),
        "header": ledger.identity.message_id(LOST, imprint(ledger)),
    }
    path = ledger.csv("log.csv", sent(1) | {column: values[column]})
    assert ledger.run(path, *BASICS, COLUMNS[column], column).exit_code == 0
    assert denied(ledger, "already_sent")
    assert ledger.mails("cus_1") == 1


def test_a_token_among_what_a_provider_hands_back_settles_the_send(ledger: Ledger) -> None:
    ledger.told(customer("cus_1"))
    token = ledger.identity.send_token(LOST, imprint(ledger))
    path = ledger.folder / "events.jsonl"
    path.write_text(
        '{"event": "delivered", "timestamp": 1784100000.5, "recipient": "pat@example.com",'
        ' "message": {"headers": {"message-id": "1@mg.example"}},'
        f' "user-variables": {{"x-ledger-send": "{token}"}}}}\n',
        encoding="utf-8",
    )
    result = ledger.run(path)
    assert result.exit_code == 0, result.output
    assert denied(ledger, "already_sent")


def test_the_fields_of_a_kind_settle_its_send_and_a_row_without_them_is_bad(
    ledger: Ledger,
) -> None:
    ledger.told(customer("cus_1"))
    rows = [
        sent(1) | {"kind": "notification", "type": "shipped", "event": "ord_9", "number": ""},
        sent(2) | {"kind": "notification", "type": "shipped", "event": "", "number": ""},
        sent(3) | {"kind": "follow_up", "type": "", "event": "", "number": "one"},
        sent(4) | {"kind": "a kind", "type": "", "event": "", "number": ""},
        sent(5) | {"kind": "", "type": "shipped", "event": "ord_10", "number": ""},
    ]
    named = ("--kind", "kind", "--event-type", "type", "--event", "event", "--step", "number")
    result = ledger.run(ledger.csv("log.csv", *rows), *BASICS, *named)
    assert result.exit_code == 3
    assert "line 3: a mail of kind notification needs event_id" in result.stderr
    assert "line 4: step: it is no number" in result.stderr
    assert "line 5: kind: " in result.stderr
    assert denied(ledger, "already_sent")
    assert ledger.mails("cus_1") == 2
