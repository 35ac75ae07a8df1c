"""Folders of sent mail as programs write them: labels in their forms, separators as they stand."""

import base64
import mailbox
from contextlib import closing
from email.header import Header
from pathlib import Path

import pytest

from tests.support.import_samples import told

NIGHT = "2026-12-31T23:30:00"


def mail(number: int, *lines: str) -> str:
    """A mail with its separator and further headers."""
    head = f"From 1@xxx Thu Dec 31 23:30:0{number} +0000 2026"
    date = f"Date: Thu, 31 Dec 2026 23:30:0{number} +0000"
    named = (f"To: c{number}@example.com", f"Message-ID: <m{number}@x>")
    return "\n".join((head, *lines, date, *named, "", "text", ""))


def sent(*numbers: int) -> list[str]:
    """What the mails tell, without their lines."""
    return [f"c{n}@example.com {NIGHT[:-1]}{n} <m{n}@x>" for n in numbers]


def found(raw: str) -> list[str]:
    """What an mbox tells, without the lines."""
    return [row.partition(" ")[2] for row in told(raw.encode())]


@pytest.mark.parametrize(
    "labels",
    [
        "Sent",
        "Important,Sent,Opened",
        "=?UTF-8?Q?Sent,Wichtig_=C3=BC?=",
        "=?UTF-8?B?" + base64.b64encode("Gelesen,Sent,ü".encode()).decode() + "?=",
        "=?UTF-8?Q?Ge=C3=B6ffnet,Sen?=\n =?UTF-8?Q?t,Wichtig?=",
        "Gesendet,Wichtig",
        Header("Messages envoyés,Ouvert", "utf-8").encode(),
        Header("Wysłane", "utf-8").encode(),
        Header("送信済み", "utf-8").encode(),
    ],
)
def test_mail_that_is_labelled_as_sent(labels: str) -> None:
    assert found(mail(1, f"X-Gmail-Labels: {labels}")) == sent(1)


@pytest.mark.parametrize(
    "labels", ["Inbox", "Sentinel", "=?UTF-8?Q?Eingang,=C3=BC?=", "=?UTF-8?B?U2VudA?Sent?="]
)
def test_mail_that_is_labelled_otherwise(labels: str) -> None:
    assert found(mail(1, f"X-Gmail-Labels: {labels}")) == ["other"]


def test_a_separator_needs_no_empty_line_before_it() -> None:
    assert found(mail(1) + mail(2) + mail(3)) == sent(1, 2, 3)
    assert found((mail(1) + mail(2)).replace("\n", "\r\n")) == sent(1, 2)
    without_body = mail(1).removesuffix("\ntext\n")
    assert found(without_body + mail(2)) == sent(1, 2)


@pytest.mark.parametrize(
    "line",
    [
        "From me to you at 12:30 on 31 2026",
        "From pat@example.com Thu Dec 31 23:30:00 2026\nand then some text",
        "x" * 65_536 + "From pat@example.com Thu Dec 31 23:30:00 2026\nTo: b@example.com",
    ],
)
def test_a_sentence_is_no_separator(line: str) -> None:
    assert found(mail(1) + line + "\n\n" + mail(2)) == sent(1, 2)


def test_the_standard_library_finds_the_same_mails(tmp_path: Path) -> None:
    path = tmp_path / "sent.mbox"
    path.write_text(mail(1) + mail(2) + "\n" + mail(3))
    with closing(mailbox.mbox(path, create=False)) as box:
        ids = [item["Message-ID"] for item in box]
    assert ids == [row.rpartition(" ")[2] for row in found(path.read_text())]
