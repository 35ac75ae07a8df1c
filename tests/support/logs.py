"""Captures everything that a service with full logging would write."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

_RECEIVER = "mail.log"


@contextmanager
def everything_logged() -> Iterator[io.StringIO]:
    """The text of every record that reaches the root logger, down to DEBUG.

    pytest's own capture also hears loggers that do not propagate, which no service does. The test's
    SMTP receiver logs to the same root, but is not the product.
    """
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    handler.addFilter(lambda record: record.name != _RECEIVER)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield text
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
