"""Signed checkpoints of the log, stored elsewhere, to detect later that it was rewritten or cut.

A hash chain proves only its own consistency: anyone who may write to the database can recompute it.
A checkpoint states the head of the log at one moment, signed by a key (Ed25519) that the database
does not have.
"""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from ledger.store.looking_back.audit import Checkpoint
from ledger.store.statements import statement

_FORM = "send-ledger checkpoint 1"
_FIELDS = ("ledger", "position", "hash", "recorded_at", "signed_at")
_PUBLIC_KEY = re.compile(r"[0-9a-f]{64}")


class BadCheckpoint(Exception):
    """A key or a checkpoint is invalid; the message says which and why."""


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    """The head of a ledger's log at one moment, with the signer's public key and signature.

    `ledger` is the ledger's epoch; `key` and `signature` are hex digits; times are RFC 3339 (UTC).
    """

    ledger: str
    position: int
    hash: str
    recorded_at: str | None
    signed_at: str
    key: str
    signature: str

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint for audit.verify(), without the signature."""
        return Checkpoint(self.position, bytes.fromhex(self.hash))

    def text(self) -> str:
        """The signed checkpoint as one line of JSON."""
        names = (*_FIELDS, "key", "signature")
        return json.dumps({name: getattr(self, name) for name in names})


def signing_key(path: Path) -> Ed25519PrivateKey:
    """Read the private key from a file; make the file, readable by its owner only, if missing.

    Raises BadCheckpoint for a file that contains no such key or that others may read, OSError.
    """
    if not path.exists():
        _make_key(path)
    if path.stat().st_mode & 0o077:
        raise BadCheckpoint(f"others may read the key {path}; close it to them: chmod 600 {path}")
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BadCheckpoint(f"{path} does not hold a private key in PEM form") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise BadCheckpoint(f"the key {path} is not an Ed25519 key")
    return key


def public_key(key: Ed25519PrivateKey) -> str:
    """The public key as 64 hex digits; it is enough to check a signature."""
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def sign_head(conninfo: str, key: Ed25519PrivateKey) -> SignedCheckpoint:
    """Sign the current head of the log. Raises psycopg.Error."""
    with psycopg.connect(conninfo, autocommit=True, options="-c timezone=UTC") as db:
        row = db.execute(statement("audit", "head")).fetchone()
    assert row is not None
    ledger, position, hash_, recorded_at, now = row
    said: dict[str, Any] = {
        "ledger": ledger,
        "position": position,
        "hash": bytes(hash_).hex(),
        "recorded_at": recorded_at.isoformat() if recorded_at is not None else None,
        "signed_at": now.isoformat(),
    }
    signature = key.sign(_signed_bytes(said)).hex()
    return SignedCheckpoint(**said, key=public_key(key), signature=signature)


def read_checkpoints(
    path: Path, trusted: str | None = None, ledger: str | None = None
) -> list[SignedCheckpoint]:
    """Read a file of checkpoints, one line of JSON each, and check their signatures.

    `trusted` is the public key that must have signed them, `ledger` the epoch they must name.
    Raises BadCheckpoint, OSError.
    """
    if trusted is not None and not _PUBLIC_KEY.fullmatch(trusted):
        raise BadCheckpoint(f"{trusted!r} is not a public key: it has 64 hex digits")
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [
        _read(f"{path}, line {number}", line, trusted, ledger)
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    if not found:
        raise BadCheckpoint(f"there is no checkpoint in {path}")
    return found


def _read(where: str, line: str, trusted: str | None, ledger: str | None) -> SignedCheckpoint:
    try:
        said = json.loads(line)
        signed = SignedCheckpoint(**said)
        bytes.fromhex(signed.hash)
        signer = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signed.key))
        signer.verify(bytes.fromhex(signed.signature), _signed_bytes(said))
    except (ValueError, TypeError, KeyError) as error:
        raise BadCheckpoint(f"{where}: not a checkpoint") from error
    except InvalidSignature as error:
        raise BadCheckpoint(f"{where}: the signature does not fit what is said there") from error
    if trusted is not None and signed.key != trusted:
        raise BadCheckpoint(f"{where}: signed by the key {signed.key}, not by {trusted}")
    if ledger is not None and signed.ledger != ledger:
        raise BadCheckpoint(f"{where}: of the ledger {signed.ledger}, not of {ledger}")
    return signed


def epoch_of(conninfo: str) -> str:
    """The epoch of the ledger in a database: its id. Raises psycopg.Error."""
    with psycopg.connect(conninfo, autocommit=True) as db:
        row = db.execute(statement("ledger", "get_setting"), {"name": "epoch"}).fetchone()
    assert row is not None
    epoch: str = row[0]
    return epoch


def _signed_bytes(said: dict[str, Any]) -> bytes:
    """The bytes that are signed: the format's name, then each field with its name and length."""
    return b"\n".join(_parts((name, json.dumps(said[name])) for name in _FIELDS))


def _parts(fields: Iterable[tuple[str, str]]) -> Iterable[bytes]:
    yield _FORM.encode()
    for name, text in fields:
        yield f"{name} {len(text)} {text}".encode()


def _make_key(path: Path) -> None:
    pem = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(pem)
        file.flush()
        os.fsync(file.fileno())
