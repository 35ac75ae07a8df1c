"""The names of settings: which `LEDGER_*` variables are misspelt, and what was meant by each."""

import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

_PREFIX = "LEDGER_"
_OF_OTHERS = re.compile(
    # Kubernetes describes a Service named `ledger` or `ledger-db` in such variables.
    r"LEDGER_(\w+_)?(SERVICE_(HOST|PORT)(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
    # The suite's own, and what the parent process of workers hands down to them.
    r"|LEDGER_(TEST|WORKER)_\w+"
)
WEBHOOK_ENDS = ("SECRET", "MODE", "PREFIX", "REMINDERS")
"""What follows `LEDGER_WEBHOOK_<PROVIDER>_`."""
CLIENT_NAMES = ("LEDGER_URL", "LEDGER_KEY")
"""Where the operator's commands find a service, and the key that they show it."""
_LEAST_LIKE = 0.5


class NotedEnvironment(Mapping[str, str]):
    """An environment that notes which names were asked for: those are the settings."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given
        self.asked: set[str] = set(CLIENT_NAMES)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        value = self._given.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def has_any(self, part: str) -> bool:
        """Is a variable set, to more than nothing, whose name has this part?"""
        return any(value for name, value in self._given.items() if part in name)


def misspelt(env: Collection[str], asked: Collection[str]) -> list[str]:
    """A sentence for each `LEDGER_*` name that is no setting, with the setting nearest to it.

    A misspelt setting would leave a protection off without a word.
    """
    strange = _strange(env, asked)
    if not strange:
        return []
    # Late: the providers take their time to load, and most environments have no strange name.
    from api.webhooks.refresh.apis import APIS
    from api.webhooks.registry import provider_names

    hooks = {
        f"LEDGER_WEBHOOK_{name.upper()}_{end}" for name in provider_names() for end in WEBHOOK_ENDS
    }
    apis = {f"LEDGER_{name.upper()}_API_{end}" for name in APIS for end in ("URL", "KEY")}
    known = {*asked, *hooks, *apis}
    return [_told(name, known) for name in _strange(env, known)]


def _strange(env: Collection[str], known: Collection[str]) -> list[str]:
    return sorted(
        name
        for name in env
        if name.startswith(_PREFIX) and name not in known and not _OF_OTHERS.fullmatch(name)
    )


def _told(name: str, known: Collection[str]) -> str:
    # Compared without the prefix that all of them have, which would make any two of them alike.
    ends = sorted(known_name.removeprefix(_PREFIX) for known_name in known)
    near = get_close_matches(name.removeprefix(_PREFIX), ends, n=1, cutoff=_LEAST_LIKE)
    meant = f" (is {_PREFIX}{near[0]} meant?)" if near else ""
    return f"{name} is not a setting{meant}"
