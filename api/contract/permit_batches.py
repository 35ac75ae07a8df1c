"""Schemas of batches of requests for permits, and of dry runs (contract: Permits)."""

from typing import Annotated, Any, Literal

from pydantic import Field

from api.contract.fields import Body, Flag, Instant, Metadata
from api.contract.permits import CopyOf, Permit, PermitItem, Statement, WindowUse, WithheldItem


class BatchRequest(Body):
    """Up to 1000 requests, decided in order, each independently.

    `dry_run`: say what the answers would be, each after those before it, and write nothing.
    """

    requests: Annotated[list[Any], Field(max_length=1000)]
    dry_run: Flag = False
    metadata: Metadata | None = None


class WouldGrant(Body):
    """What a permit would be for; it has no ids by which a mail could go out, and no address."""

    kind: str
    customer_id: str
    items: list[PermitItem]
    withheld: list[WithheldItem]
    send_by: Instant
    windows: dict[str, WindowUse]
    copies: list[CopyOf] | None = None
    statement: Statement | None = None
    invoice_id: str | None = None
    thread_id: str | None = None
    amount_remaining: int | None = None
    currency: str | None = None


class DryRunYes(Body):
    """The answer to a dry run where the request itself would be answered 201."""

    dry_run: Literal[True]
    would_grant: WouldGrant


class BatchItem(Body):
    """One answer of a batch: `permit` for 201 and 200, else `problem`, a problem document.

    In a dry run a yes is 200 with `would_grant` and no `permit`. `warnings` are what the header
    `Ledger-Warning` says where the answer stands alone.
    """

    status: int
    permit: Permit | None = None
    would_grant: WouldGrant | None = None
    problem: dict[str, Any] | None = None
    warnings: list[str] | None = None


class BatchAnswer(Body):
    """The answer to each request, redeem or outcome of the batch, in order."""

    results: list[BatchItem]
    position: str
    dry_run: Literal[True] | None = None
