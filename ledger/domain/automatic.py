"""Tells mail written by machines from mail written by people (RFC 3834, RFC 3464, RFC 8098)."""

import re
from collections.abc import Collection, Mapping
from email.message import Message as MailHeaders
from email.utils import getaddresses

from ledger.domain.identity import BadAddress, normal_form

_PRECEDENCE = frozenset({"bulk", "junk", "list", "auto_reply", "auto-reply"})
_OF_LISTS = frozenset({"bulk", "list"})
"""What lists set as the Precedence of mail that people write."""
_MACHINE_SENDERS = ("mailer-daemon@", "postmaster@", "no-reply@", "noreply@", "donotreply@")
_ANSWERING = ("x-autoreply", "x-autorespond")
"""Marks of programs that answer by themselves."""
_LIST_MARKS = ("list-id", "list-unsubscribe")
_MARKS = (
    *_ANSWERING,
    "x-auto-response-suppress",
    "x-failed-recipients",
    *_LIST_MARKS,
    "feedback-id",
)
_MOST_RECIPIENTS = 50
_WORD = re.compile(r"[^\s()<>;]+")
_LIST_ID = re.compile(r"<([^<>]*)>\s*$")
DELIVERY_REPORT = "delivery-status"
"""The report type of a delivery report (RFC 3464)."""
READ_RECEIPT = "disposition-notification"
"""The report type of a read receipt (RFC 8098)."""
_REPORTS = {DELIVERY_REPORT: "it is a delivery report", READ_RECEIPT: "it is a read receipt"}


def automatic_reason(
    headers: Mapping[str, str],
    return_path: str | None,
    sender: str | None,
    own_lists: Collection[str] = (),
) -> str | None:
    """Why a message counts as automatic, None for one that a person seems to have written.

    `Auto-Submitted` other than `no` (RFC 3834 section 5), an empty return path (RFC 5321 section
    4.5.5), a report (RFC 3464, RFC 8098), a `Precedence` of lists and vacation programs, or a
    machine's address. Such mail never earns a reply. `sender` is the address that a reply would go
    to. Mail that came through one of `own_lists`, named by their List-Id, bears the marks of lists
    all the same and is a person's.
    """
    lower = _by_name(headers)
    submitted = _submitted(lower)
    if submitted not in ("no", ""):
        said = "".join(c for c in submitted[:40] if c.isprintable())
        return f"Auto-Submitted is {said}"
    path = return_path if return_path is not None else lower.get("return-path")
    if path is not None and path.strip() in ("", "<>"):
        return "the return path is empty"
    content, report = _content_of(lower)
    if content == "multipart/report" or report is not None:
        return _REPORTS.get(report or DELIVERY_REPORT, "it is a report of a mail system")
    ours = list_id(lower) in {name.lower() for name in own_lists}
    precedence = lower.get("precedence", "").lower()
    if precedence in _PRECEDENCE and not (ours and precedence in _OF_LISTS):
        return "Precedence marks it as bulk or automatic"
    for mark in _MARKS:
        if ours and mark in _LIST_MARKS:
            continue
        if mark in lower and not (mark == "x-auto-response-suppress" and lower[mark] == "None"):
            return f"the header {mark} marks it as automatic"
    address = (sender or "").strip().lower()
    if address.startswith(_MACHINE_SENDERS):
        return "its sender is a machine"
    return None


def answers_by_itself(headers: Mapping[str, str]) -> str | None:
    """Why a mail of ours is no answer but a program's note (vacation, acknowledgement), or None.

    Help desks mark what they send on behalf of people with most of the other marks, so that only
    those of automatic answers count here (RFC 3834).
    """
    lower = _by_name(headers)
    submitted = _submitted(lower)
    if submitted in ("auto-replied", "auto-notified"):
        return f"Auto-Submitted is {submitted}"
    found = next((mark for mark in _ANSWERING if mark in lower), None)
    return f"the header {found} marks it as automatic" if found is not None else None


def report_type(headers: Mapping[str, str]) -> str | None:
    """The type of a report of a mail system, in lower case; None for a mail that is no report.

    A report that names no type counts as a delivery report, and so does mail of a server that names
    the recipients who failed in `X-Failed-Recipients`.
    """
    lower = _by_name(headers)
    content, report = _content_of(lower)
    untyped = content == "multipart/report" or "x-failed-recipients" in lower
    return DELIVERY_REPORT if report is None and untyped else report


def failed_recipients(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The usable addresses in `X-Failed-Recipients`, which some servers set instead of parts."""
    text = _by_name(headers).get("x-failed-recipients", "")
    found = (address for _, address in getaddresses([text]))
    return tuple(dict.fromkeys(a for a in found if _usable(a)))[:_MOST_RECIPIENTS]


def _usable(address: str) -> bool:
    try:
        normal_form(address)
    except BadAddress:
        return False
    return len(address) <= 320 and address.isprintable()


def list_id(headers: Mapping[str, str]) -> str | None:
    """The identifier in a `List-Id` header (RFC 2919), in lower case, or None."""
    text = _by_name(headers).get("list-id")
    if text is None:
        return None
    found = _LIST_ID.search(text)
    return (found.group(1) if found is not None else text).strip().lower()


def first_address(text: str) -> str | None:
    """The first address of a header such as `Reply-To`, without its name; None without any."""
    return next((address for _, address in getaddresses([text]) if "@" in address), None)


def _by_name(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value.strip() for name, value in headers.items()}


def _submitted(lower: Mapping[str, str]) -> str:
    return lower.get("auto-submitted", "no").split(";")[0].strip().lower()


def _content_of(lower: Mapping[str, str]) -> tuple[str, str | None]:
    """The content type and its `report-type`, both in lower case."""
    text = lower.get("content-type")
    if text is None:
        return "", None
    mail = MailHeaders()
    mail["content-type"] = " ".join(text.split())
    report = mail.get_param("report-type")
    if isinstance(report, tuple):
        report = report[2]
    word = _WORD.match(report) if report else None
    return mail.get_content_type(), word.group().lower() if word is not None else None
