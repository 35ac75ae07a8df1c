"""The library's own test cases for recorders.

Their module imports a cipher that needs PyCryptodome, though the cases for recorders use none. The
library has the same class over `cryptography`, which is installed: that one takes its place.
"""

import sys

from eventsourcing import cryptography

sys.modules.setdefault("eventsourcing.cipher", cryptography)

from eventsourcing.tests.persistence import (  # noqa: E402
    AggregateRecorderTestCase,
    ApplicationRecorderTestCase,
    NonInterleavingNotificationIDsBaseCase,
)

__all__ = [
    "AggregateRecorderTestCase",
    "ApplicationRecorderTestCase",
    "NonInterleavingNotificationIDsBaseCase",
]
