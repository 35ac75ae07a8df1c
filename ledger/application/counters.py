"""What an engine has done since it started, for `/metrics`."""

from collections import Counter
from dataclasses import dataclass, field

from ledger.application.ports import DecisionRow

_DONE = {"permit": "granted", "redeem": "redeemed"}
_MOST_SENDERS = 200
OTHERS = "others"
"""The sender under which all decisions are counted of senders beyond those that are told apart."""


@dataclass(slots=True)
class Counters:
    """What the engine has done since it started.

    `redeems_skipped` are reports of `sent`, repeated ones too, for permits that had to be redeemed
    and were not. `decisions` is by sender, kind of mail (`redeem` where the permit was asked for
    before) and answer; an address in a sender's name is left out (design D18).
    """

    batches: int = 0
    commands: int = 0
    reruns: int = 0
    refused_full: int = 0
    unavailable: int = 0
    redeems_skipped: int = 0
    seconds_in_store: float = 0.0
    decisions: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _senders: dict[str, str] = field(default_factory=dict)

    @property
    def answers(self) -> Counter[str]:
        """Decisions by their answer."""
        found: Counter[str] = Counter()
        for (_, _, answer), count in self.decisions.items():
            found[answer] += count
        return found

    def count(self, row: DecisionRow) -> None:
        """Count a decision by its code; by what was done where it is a yes."""
        done = "replayed" if row.replayed else _DONE[row.operation]
        answer = row.code or (done if row.status < 300 else "forbidden")
        sender = self._senders.get(row.sender) or self._label(row.sender)
        labels = (sender, row.kind or row.operation, answer)
        self.decisions[labels] = self.decisions.get(labels, 0) + 1

    def _label(self, sender: str) -> str:
        if len(self._senders) >= _MOST_SENDERS:
            return OTHERS
        label = self._senders[sender] = "[address]" if "@" in sender else sender
        return label
