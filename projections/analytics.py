"""The read model `analytics`: what the views for analysts need and no other read model has."""

from projections.read_model import ReadModel

ANALYTICS = ReadModel(
    name="analytics",
    version=1,
    tables=("payments", "threads", "messages", "observed_mails"),
    steps=("payments", "threads", "moves", "messages", "places", "observed"),
)
