"""The schema of an effect report."""

from datetime import date
from typing import Annotated

from pydantic import Field

from api.contract.fields import Body, Instant


class PreventedBody(Body):
    """Denied requests of a sender in a week (its Monday, UTC) whose mail had gone out or might."""

    week: date
    sender: str
    code: str
    requests: int


class MailsADayBody(Body):
    """How many times a customer got so many mails on one UTC day."""

    mails: int
    customer_days: int


class CurvePointBody(Body):
    """A day after the reminder; `unpaid` is the share that is unpaid after it, from 1 to 0."""

    days: int
    at_risk: int
    paid: int
    censored: int
    unpaid: float


class CurveBody(Body):
    """The time from the reminders of a stage to the first payment after each."""

    stage: str
    reminders: int
    median_days: int | None
    points: list[CurvePointBody]


class EndBody(Body):
    """What became of reminded invoices, by the last reminder of each; what is owed now."""

    stage: str
    status: str
    currency: str | None
    invoices: int
    balance_minor_units: int


class CautionBody(Body):
    """Sends that were first denied with a code, and those that never went out later."""

    code: str
    sends: int
    never_sent: int


class EffectBody(Body):
    """The effect report as JSON, with the figures of the Markdown and HTML formats."""

    from_: Annotated[Instant, Field(alias="from")]
    to: Instant
    generated_at: Instant
    position: int
    prevented: list[PreventedBody]
    mails: list[MailsADayBody]
    curves: list[CurveBody]
    ends: list[EndBody]
    caution: list[CautionBody]
