"""The registry of read models by name."""

from projections.analytics import ANALYTICS
from projections.customers import CUSTOMERS
from projections.incidents import INCIDENTS
from projections.invoices import INVOICES
from projections.read_model import ReadModel

MODELS: dict[str, ReadModel] = {
    model.name: model for model in (CUSTOMERS, INVOICES, INCIDENTS, ANALYTICS)
}


class UnknownReadModel(LookupError):
    """There is no read model of that name; the message lists the known ones."""


def model_named(name: str) -> ReadModel:
    """The read model of that name. Raises UnknownReadModel."""
    model = MODELS.get(name)
    if model is None:
        raise UnknownReadModel(f"there is no read model {name!r}; known are {sorted(MODELS)}")
    return model
