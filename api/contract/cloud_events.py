"""Converts a CloudEvent to a fact, or to the reason of its rejection (contract)."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from api.contract.facts import FACT_DATA, CloudEvent
from api.contract.invalid import first_of, validation_errors
from api.contract.translation import Translator, fact_of
from ledger.application.facts.fact import Fact


def fact_from(translator: Translator, event: Mapping[str, Any]) -> Fact | str:
    """The fact of a CloudEvent, or the reason of its rejection, without values of the event."""
    try:
        envelope = CloudEvent.model_validate(event)
    except ValidationError as error:
        return _why(error)
    shape = FACT_DATA.get(envelope.type)
    if shape is None:
        return f"{envelope.type!r} is not a type of fact that the ledger takes"
    try:
        data = shape.model_validate(envelope.data)
    except ValidationError as error:
        return _why(error)
    source, id_, time = envelope.source, envelope.id, envelope.time
    return fact_of(translator, envelope.type, data, source, id_, time)


def _why(error: ValidationError) -> str:
    return first_of(validation_errors(error))
