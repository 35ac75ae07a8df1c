"""Tells mail written by machines from mail written by people (RFC 3834, RFC 3464)."""

from collections.abc import Mapping

_PRECEDENCE = frozenset({"bulk", "junk", "list", "auto_reply", "auto-reply"})
_MACHINE_SENDERS = ("mailer-daemon@", "postmaster@", "no-reply@", "noreply@", "donotreply@")
_MARKS = (
    "x-autoreply",
    "x-autorespond",
    "x-auto-response-suppress",
    "x-failed-recipients",
    "list-id",
    "list-unsubscribe",
    "feedback-id",
)


def automatic_reason(
    headers: Mapping[str, str], return_path: str | None, sender: str | None
) -> str | None:
    """Why a message counts as automatic, None for one that a person seems to have written.

    `Auto-Submitted` other than `no` (RFC 3834 section 5), an empty return path (RFC 5321 section
    4.5.5), a delivery report (RFC 3464), a `Precedence` of lists and vacation programs, or a
    machine's address. Such mail never earns a reply.
    """
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    submitted = lower.get("auto-submitted", "no").split(";")[0].strip().lower()
    if submitted not in ("no", ""):
        said = "".join(c for c in submitted[:40] if c.isprintable())
        return f"Auto-Submitted is {said}"
    path = return_path if return_path is not None else lower.get("return-path")
    if path is not None and path.strip() in ("", "<>"):
        return "the return path is empty"
    content = lower.get("content-type", "").lower()
    if content.startswith("multipart/report") or "report-type=delivery-status" in content:
        return "it is a delivery report"
    if lower.get("precedence", "").lower() in _PRECEDENCE:
        return "Precedence marks it as bulk or automatic"
    for mark in _MARKS:
        if mark in lower and not (mark == "x-auto-response-suppress" and lower[mark] == "None"):
            return f"the header {mark} marks it as automatic"
    address = (sender or "").strip().lower()
    if address.startswith(_MACHINE_SENDERS):
        return "its sender is a machine"
    return None
