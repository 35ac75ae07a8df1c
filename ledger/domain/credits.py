"""A customer's credit: what the business owes them, beside any invoice, by id and currency."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class CreditBook:
    """Sums in minor units: by the customer's id under which a credit was told, then by currency.

    By id, so that customers who are merged and parted again each have their own back. A sum below
    zero means that a credit was taken back before it was told of. Changed by events only.
    """

    sums: dict[str, dict[str, int]] = field(default_factory=dict)

    def note(self, customer_id: str, currency: str, balance: int) -> None:
        """Take the new sum of one id."""
        self.sums.setdefault(customer_id, {})[currency] = balance

    def balance(self, customer_id: str, currency: str) -> int:
        """The sum that was told under one id, in minor units; it may be below zero."""
        return self.sums.get(customer_id, {}).get(currency, 0)

    def available(self, currency: str) -> int:
        """What the customer has in this currency over all their ids: minor units, never below 0."""
        return max(0, sum(by.get(currency, 0) for by in self.sums.values()))

    def all_available(self) -> dict[str, int]:
        """What the customer has in each currency in which they have something, in order."""
        currencies = sorted({currency for by in self.sums.values() for currency in by})
        found = {currency: self.available(currency) for currency in currencies}
        return {currency: amount for currency, amount in found.items() if amount}

    def add(self, sums: dict[str, dict[str, int]]) -> None:
        """Take over the credit of a customer who was merged into this one."""
        self.sums.update({customer_id: dict(by) for customer_id, by in sums.items()})

    def of(self, customer_ids: tuple[str, ...]) -> dict[str, dict[str, int]]:
        """The sums that were told under these ids."""
        return {name: dict(self.sums[name]) for name in customer_ids if name in self.sums}

    def drop(self, customer_ids: tuple[str, ...]) -> None:
        """Let go of what was told under these ids."""
        for customer_id in customer_ids:
            self.sums.pop(customer_id, None)


def less_credit(owed: dict[str, int], credit: CreditBook) -> dict[str, int]:
    """What is owed in each currency once the credit is taken off it; minor units, never below 0."""
    return {
        currency: max(0, amount - credit.available(currency)) for currency, amount in owed.items()
    }
