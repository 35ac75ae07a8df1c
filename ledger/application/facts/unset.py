"""A field that a request left out, where null means something else."""

from enum import Enum


class Unset(Enum):
    """Marks a field that the request left out, where null means something else."""

    UNSET = "unset"


UNSET = Unset.UNSET
