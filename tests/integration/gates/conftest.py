"""One ledger and one upstream for all tests of the gates in a module; ids are unique."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.http_gate import http_gate_file, running_http_gate
from tests.support.mail_provider import MailProvider, mail_provider
from tests.support.service import Client, Service, fresh_service
from tests.support.smtp_gate import UpstreamServer, gate_file, running_gate, upstream_server


@pytest.fixture(scope="package")
def service(postgres: str) -> Iterator[Service]:
    """A ledger on a test clock."""
    with fresh_service(postgres, "2026-12-01T00:00:00+00:00") as running:
        yield running


@pytest.fixture(scope="package")
def key(service: Service) -> Client:
    """The key of the programs behind the gate."""
    return service.client("send", "facts", name="gate-shop")


@pytest.fixture(scope="package")
def running_upstream() -> Iterator[UpstreamServer]:
    """The upstream of all tests."""
    with upstream_server() as server:
        yield server


@pytest.fixture
def upstream(running_upstream: UpstreamServer) -> UpstreamServer:
    """The upstream, as if it were new."""
    running_upstream.mails.clear()
    running_upstream.replies.clear()
    return running_upstream


@pytest.fixture(scope="package")
def gate(service: Service, key: Client, running_upstream: UpstreamServer) -> Iterator[int]:
    """The port of a gate without rules but one: what goes to acme.example is unguarded."""
    rules = [{"recipient": "*@acme.example", "kind": "unguarded"}]
    file = gate_file(str(service.http.base_url), key.key, rule=rules)
    with running_gate(file, running_upstream.port) as port:
        yield port


@pytest.fixture
def name() -> str:
    """A text that is in no other test's ids."""
    return uuid.uuid4().hex[:12]


@pytest.fixture(scope="package")
def running_provider() -> Iterator[MailProvider]:
    """The stand-in for all providers."""
    with mail_provider() as provider:
        yield provider


@pytest.fixture
def provider(running_provider: MailProvider) -> MailProvider:
    """The stand-in, as if it were new."""
    running_provider.clear()
    return running_provider


@pytest.fixture(scope="package")
def http_gate(service: Service, key: Client, running_provider: MailProvider) -> Iterator[str]:
    """The URL of a gate without rules but one: what goes to acme.example is unguarded."""
    rules = [{"recipient": "*@acme.example", "kind": "unguarded"}]
    url = str(service.http.base_url)
    file = http_gate_file(url, key.key, running_provider, rule=rules, root="postmark")
    with running_http_gate(file) as gate:
        yield gate


@pytest.fixture(scope="package")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime(2026, 1, 1, tzinfo=UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=9000))
        .not_valid_after(now + timedelta(days=9000))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    path.write_bytes(secret + made.public_bytes(pem))
    return path
