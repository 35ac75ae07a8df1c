"""Any other log of records: its columns are found by the names that such logs give them."""

from api.imports.profiles.profile import Head
from api.imports.profiles.table import Table, words


class PlainCsv(Table):
    """Is taken only when it is named: which of two columns counts is not certain."""

    __slots__ = ()

    def knows(self, head: Head) -> bool:
        """Never."""
        return False


PLAIN_CSV = PlainCsv(
    name="csv",
    marks=(),
    at=(
        "sent at", "sent", "send date", "sent date", "date sent", "time sent", "sent time",
        "send time", "delivered at", "processed", "timestamp", "date", "datetime", "date time",
        "time", "created at", "created", "when", "arrived at",
    ),
    recipients=(
        "recipient", "recipients", "to", "to email", "to address", "recipient email", "email",
        "email address", "e-mail", "address", "customer email", "destination", "rcpt to",
    ),
    copies=("cc", "bcc", "cc email", "bcc email", "cc address", "bcc address"),
    id=("message id", "mail id", "email id", "delivery id", "provider message id", "id", "uid"),
    message_id=("message-id header", "rfc message id", "smtp-id", "internet message id"),
    status=("status", "event", "last event", "state", "delivery status"),
    fates=words(
        sent="sent send delivered delivery accepted processed opened open clicked click ok success",
        failed="""bounced bounce failed fail failure dropped rejected reject blocked suppressed
            undeliverable notdelivered error cancelled canceled hardbounce hardbounced
            invalid""",
        other="""queued scheduled pending draft deferred delayed softbounce softbounced unsubscribed
            complained complaint spam""",
    ),
)  # fmt: skip
