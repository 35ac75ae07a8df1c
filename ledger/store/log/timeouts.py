"""How long the writer waits for the database, and the session settings of its connection."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The writer's timeouts in milliseconds: a hanging lock holder must not block it for ever."""

    connect: int = 5_000
    lock: int = 5_000
    statement: int = 10_000
    idle_in_transaction: int = 15_000
    answer: int = 20_000

    @property
    def options(self) -> str:
        """The session settings of the writer (design D4).

        Sequential scans are off because a prepared statement that was planned while its table was
        empty would keep that plan; every statement here can use an index.
        """
        settings = {
            "lock_timeout": self.lock,
            "statement_timeout": self.statement,
            "idle_in_transaction_session_timeout": self.idle_in_transaction,
            # A stopped process that reads no more of a large answer; not over a Unix socket.
            "tcp_user_timeout": self.answer,
            "synchronous_commit": "on",
            # Under a stricter level the snapshot would be older than the wait for the lock, and
            # the head of the log would be stale.
            "default_transaction_isolation": r"read\ committed",
            "timezone": "UTC",
            "datestyle": "ISO",
            "bytea_output": "hex",
            "enable_seqscan": "off",
            "jit": "off",
        }
        return " ".join(f"-c {name}={value}" for name, value in settings.items())
