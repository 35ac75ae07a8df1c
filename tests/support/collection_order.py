"""The order of the test folders: those that only compute come behind what waits for processes.

Test processes take whole files. Ended by long ones, one of them would stand idle for the last.
"""

from pathlib import PurePath

LAST = ("property", "architecture", "unit")
"""Folders whose files start no process of their own, those with the longest first."""


def place(path: PurePath) -> int:
    """Where in the order a test file is that has this path relative to the repository."""
    return next((LAST.index(part) + 1 for part in path.parts if part in LAST), 0)
