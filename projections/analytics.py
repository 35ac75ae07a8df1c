"""The read model `analytics`: payments, threads and observed mails, for the views that analysts ask."""

from projections.read_model import ReadModel

ANALYTICS = ReadModel(
    name="analytics",
    version=1,
    tables=("payments", "threads", "messages", "observed_mails"),
    steps=("payments", "threads", "moves", "messages", "places", "observed"),
)
