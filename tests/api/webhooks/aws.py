"""A fake of Amazon: signs SNS messages, and serves its certificate by HTTPS through a proxy.

The service under test checks that the certificate's host is Amazon's and fetches it by HTTPS. So it
is told to use a proxy, which answers for `sns.us-east-1.amazonaws.com` itself with a certificate of
an authority that the service is told to trust.
"""

import base64
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from tests.api.webhooks.posting import Post

HOST = "sns.us-east-1.amazonaws.com"
TOPIC = "arn:aws:sns:us-east-1:123456789012:SES_Events"
ADDRESS = f"https://{HOST}/SimpleNotificationService-0123.pem"
_NAMES = ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")


def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _usage(is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not is_authority,
        content_commitment=False,
        key_encipherment=not is_authority,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )


def _certificate(
    key: rsa.RSAPrivateKey,
    authority: rsa.RSAPrivateKey,
    name: str,
    at: datetime,
    *,
    is_authority: bool = False,
) -> bytes:
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
    subject = issuer if is_authority else x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(at - timedelta(days=400))
        .not_valid_after(at + timedelta(days=400))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        # Python 3.13 and later take no chain without the identifiers, nor such an authority.
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()),
            critical=False,
        )
        .add_extension(_usage(is_authority), critical=True)
    )
    if not is_authority:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False
        )
    signed = builder.sign(authority, hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM)


@dataclass
class Aws:
    """The stand-in: `proxy` and `trust` are for the service; `asked` are the paths fetched."""

    proxy: str
    trust: Path
    key: rsa.RSAPrivateKey
    certificate: bytes
    asked: list[str] = field(default_factory=list)
    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    def post(self, message: Any, at: datetime, id: str = "m-1", **changes: str) -> Post:
        """A notification, signed (unless a change says otherwise) at this moment."""
        members = {
            "Type": "Notification",
            "MessageId": id,
            "TopicArn": TOPIC,
            "Subject": "Amazon SES Email Event Notification",
            "Message": json.dumps(message),
            "Timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "SignatureVersion": "2",
            "SigningCertURL": ADDRESS,
        } | {name: value for name, value in changes.items() if name != "Signature"}
        members["Signature"] = changes.get("Signature") or self.signature(members, _NAMES)
        return Post("ses", {}, json.dumps(members).encode())

    def confirmation(self, members: dict[str, Any]) -> Post:
        """A topic's request to be confirmed."""
        names = ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")
        signed = members | {"Signature": self.signature(members, names)}
        return Post("ses", {}, json.dumps(signed).encode())

    def signature(self, members: dict[str, Any], names: tuple[str, ...]) -> str:
        """The signature over these fields, in this order."""
        text = "".join(f"{name}\n{members[name]}\n" for name in names)
        signature = self.key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        return base64.b64encode(signature).decode()


@contextmanager
def amazon(folder: Path, now: datetime, ledger_now: datetime) -> Iterator[Aws]:
    """The stand-in for the length of the block; TLS goes by real time, SNS by the ledger's."""
    authority, server_key, signing = _key(), _key(), _key()
    trust, server = folder / "authority.pem", folder / "server.pem"
    trust.write_bytes(_certificate(authority, authority, "", now, is_authority=True))
    server.write_bytes(_certificate(server_key, authority, HOST, now) + _pem(server_key))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(server)
    listener = socket.create_server(("127.0.0.1", 0))
    proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
    certificate = _certificate(signing, authority, "sns.amazonaws.com", ledger_now)
    aws = Aws(proxy, trust, signing, certificate)
    aws.answers["/SimpleNotificationService-0123.pem"] = (200, certificate)
    thread = threading.Thread(target=_accept, args=(listener, tls, aws), daemon=True)
    thread.start()
    try:
        yield aws
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def _accept(listener: socket.socket, tls: ssl.SSLContext, aws: Aws) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with suppress(OSError):
            _serve(connection, tls, aws)
        connection.close()


def _serve(connection: socket.socket, tls: ssl.SSLContext, aws: Aws) -> None:
    """One CONNECT to Amazon's host and one GET in it; any other host is refused."""
    asked = _head(connection)
    if not asked.startswith(f"CONNECT {HOST}:443 ".encode()):
        aws.asked.append(asked.decode("latin-1").split("\r\n", 1)[0])
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
        return
    connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    with tls.wrap_socket(connection, server_side=True) as secure:
        path = _head(secure).split(b" ")[1].decode()
        aws.asked.append(path)
        status, body = aws.answers.get(path, (404, b""))
        head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
        extra = "location: https://evil.example/x.pem\r\n" if status == 302 else ""
        secure.sendall((head + extra + "\r\n").encode() + body)


def _head(connection: socket.socket) -> bytes:
    connection.settimeout(5)
    text = b""
    while b"\r\n\r\n" not in text:
        piece = connection.recv(4096)
        if not piece:
            raise OSError("closed")
        text += piece
    return text
