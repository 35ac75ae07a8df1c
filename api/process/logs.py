"""Structured logs: one JSON object per line, without addresses, bodies or keys (D18)."""

import json
import logging
import logging.config
import re
from typing import Any

_ADDRESS = re.compile(r"[^\s<>\"',;:()\[\]]+@[^\s<>\"',;:()\[\]]+")
_MACHINE_FIELDS = ("event", "decision_id", "permit_id", "provider", "position", "code", "count")


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object, without anything that looks like an address."""

    def format(self, record: logging.LogRecord) -> str:
        """The line for a record."""
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": scrub(record.getMessage()),
        }
        for name in _MACHINE_FIELDS:
            if hasattr(record, name):
                line[name] = getattr(record, name)
        if record.exc_info:
            line["exception"] = scrub(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


def scrub(text: str) -> str:
    """Remove everything that looks like an address from a text."""
    return _ADDRESS.sub("[address]", text)


def log_config() -> dict[str, Any]:
    """The logging configuration of the process, including uvicorn's loggers."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "api.process.logs.JsonFormatter"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "json",
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "ledger": {"level": "INFO"},
            "uvicorn": {"level": "WARNING"},
            "uvicorn.error": {"level": "WARNING"},
        },
    }


def configure_logging() -> None:
    """Log to standard error, one JSON object per line."""
    logging.config.dictConfig(log_config())
