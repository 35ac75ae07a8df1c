"""The parts of a process that guard checks use."""

from dataclasses import dataclass

from api.paging.pager import Pager
from api.running.parts import Parts


@dataclass(kw_only=True)
class ProbedParts(Parts):
    """The parts of a process, and the pager that delivers the drill."""

    pager: Pager
