"""What the guard would have refused, for those who first want to see."""

from collections import Counter


class Observed:
    """Counts granted and refused mails, by tool and code; no address, no text."""

    def __init__(self) -> None:
        self._granted: Counter[str] = Counter()
        self._refused: Counter[tuple[str, str]] = Counter()
        self._said: dict[tuple[str, str], str] = {}

    def granted(self, tool: str) -> None:
        """A mail that has a permit."""
        self._granted[tool] += 1

    def refused(self, tool: str, code: str, said: str) -> None:
        """A mail that went out all the same."""
        self._refused[tool, code] += 1
        self._said.setdefault((tool, code), said)

    def report(self) -> str:
        """The report, for a person."""
        granted, refused = sum(self._granted.values()), sum(self._refused.values())
        lines = [f"{granted + refused} sent, of which the ledger would have refused {refused}"]
        for (tool, code), count in self._refused.most_common():
            lines.append(f"  {count} x {tool}: {code}")
            lines.append(f"      {self._said[tool, code]}")
        return "\n".join(lines)
