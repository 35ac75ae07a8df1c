"""Programs of others that speak to the gate: Django, swaks, smtplib with TLS."""

import os
import shutil
import smtplib
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend

from tests.support.service import Client, Service
from tests.support.smtp_gate import (
    LOGIN,
    PASSWORD,
    UpstreamServer,
    gate_file,
    mail,
    running_gate,
    upstream_server,
)

if not settings.configured:
    settings.configure(DEFAULT_FROM_EMAIL="billing@acme.example", USE_I18N=False)


@pytest.fixture
def django(gate: int) -> Iterator[EmailBackend]:
    """Django's own backend, pointed at the gate: host and port are all that changed."""
    backend = EmailBackend("127.0.0.1", gate, LOGIN, PASSWORD, timeout=300)
    yield backend
    backend.close()


def _django_mail(to: str, name: str) -> EmailMultiAlternatives:
    message = EmailMultiAlternatives(
        f"Bestellung {name} – Größe", "Unterwegs.", "billing@acme.example", [to]
    )
    message.attach_alternative("<p>Unterwegs: <b>ä</b></p>", "text/html")
    message.attach("order.csv", "a;b\n1;2\n", "text/csv")
    return message


def test_djangos_mail_goes_out_once(
    django: EmailBackend, upstream: UpstreamServer, name: str
) -> None:
    """Each rendering has a date, a Message-ID and boundaries of its own."""
    to = f"pat-{name}@example.com"
    assert django.send_messages([_django_mail(to, name)]) == 1
    with pytest.raises(smtplib.SMTPDataError) as caught:
        django.send_messages([_django_mail(to, name)])
    assert caught.value.smtp_code == 550
    (taken,) = upstream.mails
    assert taken.message["Subject"] == f"Bestellung {name} – Größe"
    assert taken.message["Message-ID"].endswith(">")
    assert "@" in taken.message["Message-ID"]
    assert [part.get_filename() for part in taken.message.iter_attachments()] == ["order.csv"]


def test_tls_and_logins_on_both_sides(
    service: Service, key: Client, certificate: Path, name: str
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def authenticate(server: Any, session: Any, envelope: Any, how: str, data: Any) -> AuthResult:
        return AuthResult(success=data == LoginPassword(b"gate", b"upstream's"))

    file = gate_file(
        str(service.http.base_url),
        key.key,
        tls={"certificate": str(certificate)},
        upstream={
            "username": "gate",
            "password": "upstream's",
            "tls": "starttls",
            "authorities": str(certificate),
        },
    )
    guarded = {
        "tls_context": context,
        "require_starttls": True,
        "auth_required": True,
        "authenticator": authenticate,
    }
    with (
        upstream_server(**guarded) as upstream,
        running_gate(file, upstream.port, upstream_host="localhost") as port,
        smtplib.SMTP("localhost", port, timeout=300) as smtp,
    ):
        smtp.ehlo()
        assert not smtp.has_extn("auth"), "a password would cross the wire in the clear"
        smtp.starttls(context=ssl.create_default_context(cafile=str(certificate)))
        smtp.login(LOGIN, PASSWORD)
        smtp.send_message(mail(name), to_addrs=[f"pat-{name}@example.com"])
        assert upstream.recipients() == [f"pat-{name}@example.com"]


def test_an_upstream_with_another_certificate_gets_nothing(
    service: Service, key: Client, certificate: Path, name: str
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    file = gate_file(str(service.http.base_url), key.key, upstream={"tls": "starttls"})
    with (
        upstream_server(tls_context=context) as upstream,
        running_gate(file, upstream.port, upstream_host="localhost") as port,
        smtplib.SMTP("127.0.0.1", port, timeout=300) as smtp,
    ):
        smtp.login(LOGIN, PASSWORD)
        with pytest.raises(smtplib.SMTPDataError) as caught:
            smtp.send_message(mail(name), to_addrs=[f"pat-{name}@example.com"])
        assert caught.value.smtp_code == 451
        assert upstream.mails == []


def test_swaks_pipes_its_commands(gate: int, upstream: UpstreamServer, name: str) -> None:
    swaks = shutil.which("swaks")
    assert swaks is not None, "the tests need swaks: apt-get install swaks"
    to = f"pat-{name}@example.com"
    command = [swaks, "--server", f"127.0.0.1:{gate}", "--pipeline", "--from", "shop@acme.example"]
    command += ["--to", to, "--auth", "PLAIN", "--auth-user", LOGIN, "--auth-password", PASSWORD]
    command += ["--header", "X-Ledger-Kind: notification", "--header", f"X-Ledger-Event-Id: {name}"]
    command += ["--header", "X-Ledger-Event-Type: shipped", "--body", "It is on its way."]
    ran = [
        subprocess.run(command, capture_output=True, text=True, env=os.environ | {"HOME": "/"})
        for _ in range(2)
    ]
    assert ran[0].returncode == 0, ran[0].stdout + ran[0].stderr
    assert "250 2.0.0 queued as 7" in ran[0].stdout
    assert ran[1].returncode == 26, ran[1].stdout + ran[1].stderr
    assert "550 5.7.1 already_sent: " in ran[1].stdout
    assert len(upstream.mails) == 1
