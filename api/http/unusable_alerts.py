"""The pages for news of invoices that could not be used: a bounded number a day."""

from dataclasses import dataclass, field
from datetime import date

from api.contract.free_text import without_addresses
from ledger.application.effects import Alert

_MOST_OF_A_DAY = 20
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Unusable:
    """A fact about an invoice that was rejected; `detail` has no value of it."""

    source: str
    type: str
    invoice_id: str
    detail: str

    @property
    def readable(self) -> bool:
        """Can the invoice be looked for by this id, and shown to people?"""
        return self.invoice_id.isprintable() and 0 < len(self.invoice_id.strip()) <= 255


@dataclass(slots=True)
class UnusableNews:
    """What this process has paged about today: one page for each, then one for all others.

    A poller whose every snapshot is refused must not page for each invoice.
    """

    day: date = date.min
    told: set[tuple[str, str, str]] = field(default_factory=set)

    def alert(self, news: Unusable, day: date) -> Alert:
        """The alert for this news on this day (UTC); the same news has the same key."""
        if day != self.day:
            self.day, self.told = day, set()
        one = (news.source[:_LONGEST], news.type, news.invoice_id)
        if one not in self.told and len(self.told) >= _MOST_OF_A_DAY:
            return _alert(
                f"others:{day.isoformat()}",
                "further facts about invoices could not be used; what was known stays in force",
            )
        self.told.add(one)
        source, type_, invoice_id = one
        return _alert(
            f"{source}:{type_}:{invoice_id}:{day.isoformat()}",
            f"{source} told of invoice {invoice_id[:_LONGEST]} by {type_} what cannot be used "
            f"({news.detail[:_LONGEST]}); what was known of it stays in force",
        )


def _alert(key: str, summary: str) -> Alert:
    return Alert("ingest_rejected", f"ingest_rejected:news:{key}", str(without_addresses(summary)))
