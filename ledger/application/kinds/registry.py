"""The kinds of mail that a permit can be asked for: one line each."""

from collections.abc import Mapping

from ledger.application.kinds.apology import ApologyRequest
from ledger.application.kinds.digest import Digest
from ledger.application.kinds.follow_up import FollowUp
from ledger.application.kinds.kind import PermitSubject
from ledger.application.kinds.message import IntentMessage
from ledger.application.kinds.notification import Notification
from ledger.application.kinds.payment_failed import PaymentFailedNotice
from ledger.application.kinds.reminder import Reminder
from ledger.application.kinds.reply import Reply

_CLASSES: tuple[type[PermitSubject], ...] = (
    Reminder,
    PaymentFailedNotice,
    Reply,
    Notification,
    Digest,
    IntentMessage,
    FollowUp,
    ApologyRequest,
)

KINDS: Mapping[str, type[PermitSubject]] = {kind.kind: kind for kind in _CLASSES}
"""Every kind by its name in requests."""
OPTIONAL: tuple[str, ...] = tuple(name for name, kind in KINDS.items() if kind.optional)
"""The kinds that somebody stops who leaves a list."""
