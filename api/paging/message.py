"""Writes the message of a page: title, text and dedupe key, the same at each retry."""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC

from ledger.store.alerts.outbox import Page, PagedAlert

_LONGEST_TITLE = 150
_LONGEST_SUMMARY = 500
_NAMED_KEYS = 10
_PLAIN_KEY = re.compile(r"[!-~]{1,255}")
_NOT_PRINTED = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Message:
    """The message of a page. `dedupe_key` comes from the alert, `reason` from the page."""

    title: str
    body: str
    dedupe_key: str
    reason: str

    @property
    def short_key(self) -> str:
        """The dedupe key for fields of 255 plain characters; a key that does not fit is hashed."""
        key = self.dedupe_key
        if _PLAIN_KEY.fullmatch(key):
            return key
        return f"sha256:{hashlib.sha256(key.encode()).hexdigest()}"

    @property
    def is_drill(self) -> bool:
        """True for a drill, which needs no reaction."""
        return self.reason == "drill"


def message_of(page: Page) -> Message:
    """The message of a page. The title marks drills and escalations."""
    marks = {"drill": "DRILL: ", "escalation": "ESCALATION, not acknowledged: "}
    mark = marks.get(page.reason, "")
    one = page.alerts[0] if len(page.alerts) == 1 and page.reason != "summary" else None
    title = _title_of(one) if one else _title_of_many(page)
    lines = ["This is a drill of the guard check: nothing is wrong."] if mark == "DRILL: " else []
    lines += _lines_of(page.dedupe_key, one) if one else _lines_of_many(page)
    return Message(
        title=_cut(mark + title, _LONGEST_TITLE),
        body="\n".join(lines),
        dedupe_key=page.dedupe_key,
        reason=page.reason,
    )


def _title_of(alert: PagedAlert) -> str:
    about = f": customer {alert.customer_id}" if alert.customer_id else ""
    return f"{alert.kind}{about}"


def _title_of_many(page: Page) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in page.kinds)
    return f"{_total(page)} more alerts: {kinds}" if page.reason == "summary" else kinds


def _lines_of(dedupe_key: str, alert: PagedAlert) -> list[str]:
    raised_at = alert.raised_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    permit = [f"permit: {_line(alert.permit_id)}"] if alert.permit_id else []
    return [
        _cut(alert.summary, _LONGEST_SUMMARY),
        f"dedupe key: {_line(dedupe_key)}",
        f"alert: {alert.alert_id}, raised {raised_at}",
        *permit,
    ]


def _lines_of_many(page: Page) -> list[str]:
    named = page.alerts[:_NAMED_KEYS]
    unnamed = _total(page) - len(named)
    return [
        *(f"{kind}: {count}" for kind, count in page.kinds),
        f"dedupe key: {_line(page.dedupe_key)}",
        *(f"- alert {alert.alert_id}: {_line(alert.dedupe_key)}" for alert in named),
        *([f"- and {unnamed} more: see GET /v1/alerts"] if unnamed else []),
    ]


def _total(page: Page) -> int:
    return sum(count for _, count in page.kinds)


def _cut(text: str, longest: int) -> str:
    line = _line(text)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _line(text: str) -> str:
    # Ids come from callers: a line break in an id must not forge a line of the message.
    return _NOT_PRINTED.sub(" ", text)
