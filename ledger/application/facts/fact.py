"""A fact: something that happened outside, in the envelope that dedupes it."""

from datetime import datetime
from typing import ClassVar

from ledger.domain.value import value

RIDING = "riding"
"""The source of facts that ride along with a request for a permit."""


class FactData:
    """What a fact tells; each type of fact has a data class of its own."""

    __slots__ = ()
    TIMES: ClassVar[tuple[str, ...]] = ()
    """Its fields that say when the news is of; None in one of them means: of its arrival."""


@value
class Fact:
    """One fact; (source, fact_id) dedupes it, `fact_id` None is never a duplicate. Time is UTC."""

    data: FactData
    source: str = ""
    fact_id: str | None = None
    time: datetime | None = None
