"""The order of the test folders: what waits for processes first, what only computes last.

Test processes take whole files. Ended by long ones, one of them would stand idle for the last.
"""

from pathlib import PurePath

FOLDERS = (
    "faults",
    "torture",
    "integration",
    "api",
    "cases",
    "docs",
    "clients",
    "property",
    "architecture",
    "unit",
)
"""Below `tests`, and beside it."""


def place(path: PurePath) -> int:
    """Where in the order a test file is that has this path relative to the repository."""
    top = path.parts[1] if path.parts[0] == "tests" else path.parts[0]
    return FOLDERS.index(top) if top in FOLDERS else len(FOLDERS)
