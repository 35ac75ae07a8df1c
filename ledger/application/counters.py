"""What an engine has done since it started, for `/metrics`."""

from dataclasses import dataclass, field

from ledger.application.ports import DecisionRow

_DONE = {"permit": "granted", "redeem": "redeemed"}


@dataclass(slots=True)
class Counters:
    """What the engine has done since it started; `redeems_skipped` are reports of such mails."""

    batches: int = 0
    commands: int = 0
    reruns: int = 0
    refused_full: int = 0
    unavailable: int = 0
    redeems_skipped: int = 0
    seconds_in_store: float = 0.0
    answers: dict[str, int] = field(default_factory=dict)

    def count(self, row: DecisionRow) -> None:
        """Count a decision by its code; by what was done where it is a yes."""
        done = "replayed" if row.replayed else _DONE[row.operation]
        answer = row.code or (done if row.status < 300 else "forbidden")
        self.answers[answer] = self.answers.get(answer, 0) + 1
