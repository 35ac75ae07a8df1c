"""The one error of the embedded PostgreSQL."""


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL cannot be used; the message says why and what to do about it.

    Where nothing in the message helps, an operator can always run the ledger on a PostgreSQL of
    their own: set LEDGER_DATABASE_URL (design decision D17).
    """
