"""A mail's bytes: what the gate reads, takes off and adds; what a fingerprint sees."""

import email.policy
from email.message import EmailMessage
from email.utils import make_msgid

import pytest

from api.gates.fingerprint import Fingerprints
from api.gates.smtp.mail import Mail

_KEY = b"k" * 32


def _fingerprint(content: bytes, *, key: bytes = _KEY, sender: str = "s@x.example") -> str:
    return Fingerprints(key, sender, Mail(content)).of("pat@example.com")


def _rendered(
    subject: str = "Order 7", text: str = "On its way.\n", picture: bytes = b"png"
) -> bytes:
    message = EmailMessage()
    message["Subject"], message["Message-ID"] = subject, make_msgid()
    message.set_content(text)
    cid = make_msgid()
    message.add_alternative(f'<img src="cid:{cid[1:-1]}"> {text}', subtype="html")
    html = message.get_payload()[1]
    html.add_related(picture, "image", "png", cid=cid)
    return message.as_bytes(policy=email.policy.SMTP)


def test_everything_but_the_gates_own_fields_stays_as_it_was() -> None:
    content = (
        b"Received: a\r\n by b\r\nx-LEDGER-kind : reminder\r\n folded\r\nSubject:  odd \r\n"
        b"Subject: twice\r\n\r\nX-Ledger-Kind: text\r\n\xff\r\n"
    )
    mail = Mail(content)
    assert mail.own() == {"kind": ["reminder folded"]}
    assert mail.dressed({"X-Ledger-Permit": "p", "X-Ledger-Send": "a b"}) == (
        b"X-Ledger-Permit: p\r\nX-Ledger-Send: a\r\n b\r\nReceived: a\r\n by b\r\n"
        b"Subject:  odd \r\nSubject: twice\r\n\r\nX-Ledger-Kind: text\r\n\xff\r\n"
    )


@pytest.mark.parametrize(
    ("content", "dressed"),
    [
        (b"Subject: a\r\n", b"A: b\r\nSubject: a\r\n\r\n"),
        (b"\r\ntext\r\n", b"A: b\r\n\r\ntext\r\n"),
        (b"only text\r\n", b"A: b\r\n\r\nonly text\r\n"),
        (b"X-Ledger-Kind: x\r\n\r\ntext\r\n", b"A: b\r\n\r\ntext\r\n"),
    ],
)
def test_a_mail_without_head_or_body_gets_its_fields_too(content: bytes, dressed: bytes) -> None:
    assert Mail(content).dressed({"A": "b"}) == dressed


def test_what_the_ledger_says_cannot_make_fields() -> None:
    with pytest.raises(AssertionError):
        Mail(b"").dressed({"X-Ledger-Send": "a\r\nBcc: b@example.com"})


def test_encoded_and_folded_values_are_read() -> None:
    mail = Mail(
        b"Subject: =?utf-8?q?Gr=C3=B6=C3=9Fe?=\r\n 7\r\nX-Ledger-Customer: =?x?q?C1?=\r\n\r\n"
    )
    assert mail.first("subject") == "Größe 7"
    assert mail.own() == {"customer": ["=?x?q?C1?="]}


def test_two_renderings_of_one_mail_have_one_fingerprint() -> None:
    one, other = _rendered(), _rendered()
    assert one != other
    assert _fingerprint(one) == _fingerprint(other)
    assert _fingerprint(_rendered(" ORDER\t7")) == _fingerprint(one)
    assert _fingerprint(_rendered(text="On its way.  \n\n")) == _fingerprint(one)


def test_another_mail_has_another_fingerprint() -> None:
    found = {
        _fingerprint(_rendered()),
        _fingerprint(_rendered("Order 8")),
        _fingerprint(_rendered(text="On its way. 8\n")),
        _fingerprint(_rendered(picture=b"jpg")),
        _fingerprint(_rendered(), key=b"j" * 32),
        _fingerprint(_rendered(), sender="t@x.example"),
        Fingerprints(_KEY, "s@x.example", Mail(_rendered())).of("kim@example.com"),
    }
    assert len(found) == 7
    same = Fingerprints(_KEY, "S@X.example", Mail(_rendered())).of("PAT@example.com")
    assert same == _fingerprint(_rendered())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"Content-Type: text/plain; charset=none-such\r\n\r\n\xff",
        b"Content-Type: multipart/mixed\r\n\r\n--",
        b"Content-Transfer-Encoding: base64\r\n\r\n!!!",
        b"Subject: =?utf-8?b?////?=\r\n\r\n",
        b"Content-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\ntext",
        b"Content-Type: text/plain; name*=bogus''%ff\r\n\r\n",
    ],
)
def test_a_mail_that_is_none_has_a_fingerprint_all_the_same(content: bytes) -> None:
    assert len(_fingerprint(content)) == 64
