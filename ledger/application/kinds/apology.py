"""The apology of an incident: one to each customer, with a statement of what they owe (D14)."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar, Self

from ledger.application.effects import Outcome
from ledger.application.kinds.addressee import ids_ever_had
from ledger.application.kinds.ask import begin_ask, rejection_limit
from ledger.application.kinds.kind import Ask, Granted, Judged, PermitSubject, Request
from ledger.application.statement import statement_body, statement_of
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.identity import Address
from ledger.domain.incident import Incident
from ledger.domain.permit import Lane
from ledger.domain.reasons import Denial
from ledger.domain.sendkey import SendKey
from ledger.domain.subjects import ApologyOf
from ledger.domain.value import value


@value
class ApologyRequest(PermitSubject):
    """The one apology of an incident to a customer."""

    kind: ClassVar[str] = "apology"
    code: ClassVar[str] = "a"

    incident_id: str
    customer_id: str

    @classmethod
    def from_body(cls, body: Any, address: Callable[[str], Address]) -> Self:
        """The incident, and whom it goes to."""
        return cls(body.incident_id, body.customer_id)

    def load(self, walk: Walk) -> None:
        """The incident and the customer."""
        walk.aggregate("incident", self.incident_id)
        walk.customer(self.customer_id)

    def customers(self, world: World) -> list[str]:
        """The customer."""
        return [self.customer_id]

    def send_keys(self, world: World, at: datetime) -> tuple[tuple[SendKey, ...], ...]:
        """The incident's apology to the customer, under every id that they had."""
        ids = ids_ever_had(world, [self.customer_id])
        return (tuple(apology_key(self.incident_id, customer_id) for customer_id in ids),)

    @classmethod
    def lane(cls, transactional: bool) -> Lane:
        """Apologies are judged by no window."""
        return Lane.APOLOGY

    def ask(self, world: World, request: Request) -> Ask | Denial:
        """The incident's apology to the customer, by the ids that they ever had."""
        incident = world.incident(self.incident_id)
        if incident is None:
            return Denial("unknown_incident", f"there is no incident {self.incident_id}")
        customer = world.customer(self.customer_id)
        if customer is None:
            return Denial("unknown_customer", f"customer {self.customer_id} is not known")
        ask = begin_ask(world, request, self, customer, customer.customer_id)
        if isinstance(ask, Denial):
            return ask
        apologies = incident.apologies
        former = (
            name
            for name, until in customer.formerly.items()
            if name in apologies and apologies[name].at <= until
        )
        apology = ApologyOf(
            incident,
            customer.customer_id,
            customer.last_apology(world.now, world.policy.apology_days),
            bool(world.control.pauses),
            rejection_limit(world, request),
            (*sorted(customer.absorbed), *former),
        )
        ask.subjects = [Judged(customer.customer_id, apology)]
        ask.keys = (apology_key(self.incident_id, customer.customer_id),)
        ask.aliases = tuple(apology_key(self.incident_id, id_) for id_ in sorted(customer.absorbed))
        ask.incident_id = self.incident_id
        ask.rejections = incident.rejections.get(customer.customer_id, 0)
        return ask

    def record(self, world: World, outcome: Outcome, granted: Granted) -> None:
        """Fix the statement: in the incident, and in what the sender is told."""
        permit = granted.permit
        statement = statement_of(world, granted.ask.case.customer)
        outcome.body["statement"] = statement_body(statement, world)
        outcome.change(
            "incident",
            self.incident_id,
            Incident.ApologyPermitted,
            customer_id=permit.customer_id,
            permit_id=permit.permit_id,
            sender=permit.sender,
            statement=statement,
        )


def apology_key(incident_id: str, customer_id: str) -> SendKey:
    """The one apology of an incident to a customer (design D14)."""
    return ("apology", incident_id, customer_id)
