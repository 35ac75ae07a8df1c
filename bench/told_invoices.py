"""Invoices that measurements of disk space tell an engine of, and how they read the sizes."""

from datetime import date
from pathlib import Path

from psycopg import AsyncConnection

from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.domain.balance import Status
from ledger.domain.identity import Address, fingerprint

SECRET = b"0123456789abcdef0123456789abcdef"
Sizes = tuple[int, ...]


def snapshot(number: int) -> InvoiceObserved:
    """The snapshot of an open invoice, past due, of a customer of its own."""
    text = f"c{number}@example.com"
    return InvoiceObserved(
        invoice_id=f"inv_{number}",
        customer_id=f"cus_{number}",
        currency="EUR",
        total=30_000,
        amount_remaining=30_000,
        status=Status.OPEN,
        email=Address(text, fingerprint(SECRET, text)),
        due_on=date(2026, 11, 28),
    )


async def read_sizes(connection: AsyncConnection[tuple[object, ...]], statements: Path) -> Sizes:
    """What `sizes.sql` of that folder counts."""
    row = await (await connection.execute((statements / "sizes.sql").read_bytes())).fetchone()
    assert row is not None
    return tuple(int(str(value)) for value in row)
