"""A program behind a gate: its name, its client of the ledger, and what it hears of a no."""

from dataclasses import dataclass
from typing import Any

from sendledger import AsyncLedger, LedgerError, Pace

from api.gates.error import GateError
from api.gates.gate_file import AnyGateFile


@dataclass(frozen=True)
class Sender:
    """A program that is let in; `key` is that of its fingerprints, without `login` it has none."""

    login: str | None
    ledger: AsyncLedger
    key: bytes
    refused: str


def open_sender(
    file: AnyGateFile, seconds: float, login: str | None, key: str, refused: str, **more: Any
) -> Sender:
    """A program with its client, which asks for so many seconds. Raises GateError."""
    pace = Pace(deadline=seconds, report_deadline=seconds, per_call=min(10.0, seconds))
    try:
        ledger = AsyncLedger(file.ledger, key, pace=pace, **more)
    except LedgerError as error:
        raise GateError(str(error)) from error
    return Sender(login, ledger, file.fingerprint_key(key), refused)
