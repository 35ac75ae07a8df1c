"""Which rule of the file fits a mail to one recipient, and the fields that it gives."""

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from api.gates.addresses import same_address
from api.gates.gate_file import Rule


@dataclass(frozen=True)
class Seen:
    """What rules look at: the login (None without one), the sender, the subject."""

    login: str | None
    sender: str
    subject: str


@dataclass(frozen=True)
class Fit:
    """What the rules say of a mail to one recipient; `kind` is None where none says it."""

    kind: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    refused: str | None = None


def fit_of(rules: tuple[Rule, ...], seen: Seen, recipient: str) -> Fit:
    """The first rule that fits says the kind, the first that fits and says it what is refused."""
    kind, fields, refused = None, {}, None
    for rule in rules:
        groups = _groups(rule, seen, recipient)
        if groups is None:
            continue
        if kind is None and rule.kind is not None:
            kind, fields = rule.kind, {n: _filled(v, groups) for n, v in rule.fields.items()}
        refused = refused or rule.refused
    return Fit(kind, fields, refused)


def _groups(rule: Rule, seen: Seen, recipient: str) -> Mapping[str, str] | None:
    """The named groups of the subject, None where the rule does not fit."""
    if rule.login is not None and rule.login != seen.login:
        return None
    if rule.sender is not None and not _like(seen.sender, rule.sender):
        return None
    if rule.recipient is not None and not _like(recipient, rule.recipient):
        return None
    if rule.subject is None:
        return {}
    found = re.search(rule.subject, seen.subject)
    if found is None:
        return None
    return {name: value or "" for name, value in found.groupdict().items()}


def _like(address: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(same_address(address), pattern.lower())


def _filled(value: Any, groups: Mapping[str, str]) -> Any:
    """A field with each `{name}` replaced by what the subject had in that group."""
    if isinstance(value, str):
        for name, text in groups.items():
            value = value.replace("{" + name + "}", text)
        return value
    if isinstance(value, list):
        return [_filled(one, groups) for one in value]
    return value
