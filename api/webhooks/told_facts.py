"""Converts a provider's fact to a command's fact, with the validation for all callers."""

from pydantic import ValidationError

from api.contract.facts import FACT_DATA
from api.contract.invalid import first_of, validation_errors
from api.contract.translation import Translator, fact_of
from api.webhooks.provider import Fact as WebhookFact
from ledger.application.facts.fact import Fact


def fact_of_webhook(translator: Translator, told: WebhookFact) -> Fact | str:
    """The fact, or why it is rejected. Only the data is validated: our code made the envelope."""
    try:
        data = FACT_DATA[told.type].model_validate(told.data)
    except ValidationError as error:
        return first_of(validation_errors(error))
    return fact_of(translator, told.type, data, told.source, told.id, told.time)
