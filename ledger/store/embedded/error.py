"""The error that the embedded PostgreSQL raises."""


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL cannot be used; the message says why and what to do about it.

    If the message does not help, an operator can use an external PostgreSQL instead: set
    LEDGER_DATABASE_URL (design decision D17).
    """
