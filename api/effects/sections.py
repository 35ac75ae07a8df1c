"""The sections of an effect report, with the definition of each figure."""

from collections.abc import Callable
from dataclasses import dataclass

from api.effects.charts import bars, steps
from ledger.domain.money import major_units
from projections.effect import Curve, Effect

Cell = str | int
_DAYS = (1, 3, 7, 14, 30, 60, 90)
_SEND_CODES = ("already_sent", "duplicate_intent", "similar_intent", "already_replied")
_MADE = frozenset((*_SEND_CODES, "apology_already_sent"))


@dataclass(frozen=True, slots=True)
class Section:
    """A title, what the figures mean, a table, and a chart as SVG (empty for none)."""

    title: str
    meaning: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    chart: str = ""


def summary(effect: Effect) -> list[str]:
    """The report in a few sentences."""
    made = sum(row.requests for row in effect.prevented if row.code in _MADE)
    held = sum(row.requests for row in effect.prevented if row.code not in _MADE)
    most = max((row.mails for row in effect.mails), default=0)
    never = sum(row.never_sent for row in effect.caution)
    sends = sum(row.sends for row in effect.caution)
    return [
        f"{made:,} requests for a mail that had been sent already were denied, {held:,} while "
        "another sender had the mail in hand.",
        f"No customer got more than {most:,} mails on one day." if most else "No mail went out.",
        *[_median(curve) for curve in effect.curves],
        f"{sends:,} sends were denied for another reason at first; "
        f"{never:,} of them never went out.",
    ]


def sections(effect: Effect) -> list[Section]:
    """All sections, in their order."""
    make: tuple[Callable[[Effect], Section], ...] = (_prevented, _mails, _curves, _ends, _caution)
    return [section(effect) for section in make]


def _median(curve: Curve) -> str:
    if curve.median_days is None:
        return f"Of {curve.reminders:,} reminders of {curve.stage} fewer than half were paid."
    return (
        f"Half of the {curve.reminders:,} reminders of {curve.stage} were followed by a payment "
        f"within {curve.median_days + 1} days."
    )


def _prevented(effect: Effect) -> Section:
    return Section(
        "Duplicates prevented",
        "Requests that were denied, by the week of the decision (its Monday, UTC), the sender's "
        "key and the code. `permit_held`, `outcome_unknown` and `already_redeemed` say that "
        "another permit for the mail was live or of unknown outcome: it would have been a "
        "duplicate if that mail went out. Repeated denials count as often as they were asked for.",
        ("week", "sender", "code", "requests"),
        tuple((str(r.week), r.sender, r.code, r.requests) for r in effect.prevented),
    )


def _mails(effect: Effect) -> Section:
    return Section(
        "Mails per customer and day",
        "Days on which a customer got so many mails, of all kinds, with a permit or past the "
        "ledger. A mail is of the UTC day from which it counts; one of unknown outcome counts, one "
        "that provably did not go out does not. Merged customers are one.",
        ("mails", "customer days"),
        tuple((row.mails, row.customer_days) for row in effect.mails),
        bars([(str(row.mails), row.customer_days) for row in effect.mails]),
    )


def _curves(effect: Effect) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for curve in effect.curves:
        for days in _DAYS:
            before = [point for point in curve.points if point.days < days]
            share = before[-1].unpaid if before else 1.0
            known = curve.reminders - sum(point.paid + point.censored for point in before)
            paid = sum(point.paid for point in before)
            rows.append((curve.stage, days, paid, known, f"{share:.1%}"))
    return Section(
        "From reminder to payment",
        "For each reminder that was sent in the time: days (of 24 hours) to the first payment of "
        "the invoice that succeeded from then on, whatever its amount; credits do not count. A "
        "reminder without one by the end of the time is looked at only until then (censored); the "
        "share is that of Kaplan and Meier. It says when money came, not that the mail was why.",
        ("stage", "within days", "paid", "still looked at", "share unpaid"),
        tuple(rows),
        steps({c.stage: [(p.days + 1, p.unpaid) for p in c.points] for c in effect.curves}),
    )


def _ends(effect: Effect) -> Section:
    return Section(
        "What became of reminded invoices",
        "Invoices with a reminder sent in the time, by the last one, as they are now. The balance "
        "is what is owed now, per currency.",
        ("last stage", "status", "invoices", "balance"),
        tuple(
            (r.stage, r.status, r.invoices, f"{major_units(r.balance, r.currency)} {r.currency}")
            if r.currency
            else (r.stage, r.status, r.invoices, "")
            for r in effect.ends
        ),
    )


def _caution(effect: Effect) -> Section:
    return Section(
        "What caution cost",
        "Sends whose first denial in the time was for another reason than a duplicate, and those "
        "of them for which no mail of the same kind to the same customer, about the same invoice "
        "and thread where one was named, went out from then to now. A denial that was right, as "
        "`nothing_owed`, is among them.",
        ("code of the first denial", "sends", "never sent"),
        tuple((row.code, row.sends, row.never_sent) for row in effect.caution),
    )
