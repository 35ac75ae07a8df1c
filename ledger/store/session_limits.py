"""What bounds a session that is not the writer's: waits, statements and idle transactions end."""

LIMITS = {
    "lock_timeout": "5s",
    "statement_timeout": "15s",
    "idle_in_transaction_session_timeout": "5s",
}
"""PostgreSQL settings; a transaction that takes the writer lock has stricter ones by itself."""


def session_options(**more: str) -> str:
    """The `options` of a connection with these limits, and what else it is set to or overrides."""
    settings = LIMITS | {"timezone": "UTC", "jit": "off"} | more
    return " ".join(f"-c {name}={value}" for name, value in settings.items())
