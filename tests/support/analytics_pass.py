"""An independent pass over a log in plain Python, to compare the views for analysts with.

It reads the stored JSON alone and shares no code with the ledger's rules or statements.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

Row = dict[str, Any]


@dataclass(frozen=True)
class Logged:
    """An event as it is stored, with its state parsed."""

    position: int
    originator_id: UUID
    topic: str
    state: Row
    at: datetime


@dataclass
class Pass:
    """What was found, by the keys of the things; fed event by event."""

    time_zone: str
    names: dict[UUID, str] = field(default_factory=dict)
    into: dict[str, str] = field(default_factory=dict)
    mails: dict[str, Row] = field(default_factory=dict)
    invoices: dict[UUID, Row] = field(default_factory=dict)
    records: dict[UUID, dict[tuple[int, str], Row]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    payments: dict[tuple[UUID, bool, str], list[Row]] = field(
        default_factory=lambda: defaultdict(list)
    )
    threads: dict[UUID, Row] = field(default_factory=dict)
    messages: dict[UUID, dict[str, Row]] = field(default_factory=lambda: defaultdict(dict))
    incidents: dict[UUID, Row] = field(default_factory=dict)

    def take(self, event: Logged) -> None:
        """Note what one event tells."""
        kind, _, what = event.topic.removeprefix("ledger:").partition(".")
        reader: Callable[[str, Logged], None] | None = {
            "Customer": self._customer,
            "Invoice": self._invoice,
            "Thread": self._thread,
            "Incident": self._incident,
        }.get(kind)
        if reader is not None:
            reader(what, event)

    def owner(self, customer: str | None) -> str | None:
        """Who answers for a customer after all merges."""
        while customer in self.into:
            customer = self.into[customer]
        return customer

    def _customer(self, what: str, event: Logged) -> None:
        state = event.state
        if what == "Created":
            self.names[event.originator_id] = state["customer_id"]
        elif what == "MergedInto":
            self.into[self.names[event.originator_id]] = state["into"]
        elif what == "Unmerged":
            del self.into[self.names[event.originator_id]]
        elif what in ("MailPermitted", "MailObserved"):
            permit = state["permit"]
            known = self.mails.setdefault(permit["permit_id"], {"permit": permit})
            known |= {
                "observed": what == "MailObserved",
                "customer_id": permit["customer_id"],
                "state": permit["state"],
                "redeemed_at": instant(permit.get("redeemed_at")),
                "settled_at": instant(permit.get("settled_at")),
            }
        elif what == "MailRedeemed" and state["permit_id"] in self.mails:
            self.mails[state["permit_id"]] |= {"state": "redeemed", "redeemed_at": event.at}
        elif what == "MailSettled" and state["permit_id"] in self.mails:
            self.mails[state["permit_id"]] |= {"state": state["state"], "settled_at": event.at}

    def _invoice(self, what: str, event: Logged) -> None:
        state, key = event.state, event.originator_id
        if what == "Created":
            self.invoices[key] = {"invoice_id": state["invoice_id"], "held": (False, None)}
            return
        invoice = self.invoices[key]
        if state.get("standing") is not None:
            invoice["standing"] = state["standing"]
        if what == "Observed":
            invoice["snapshot"] = state["snapshot"]
            invoice["arrived"] = event.at
            invoice["in_flight_until"] = state["in_flight_until"]
        elif what == "MoneyMoved":
            fact = state["fact"]
            if fact["state"] in ("pending", "succeeded", "failed", "reversed"):
                invoice["in_flight_until"] = state["in_flight_until"]
            at = of_arrival(instant(fact["at"]), event.at)
            word = {"state": fact["state"], "amount": fact["amount"], "at": at}
            credit = fact["state"].startswith("credit")
            self.payments[key, credit, fact["name"]].append(word | {"position": event.position})
        elif what in ("HoldPlaced", "HoldLifted"):
            invoice["held"] = (state["indefinite"], instant(state["held_until"]))
        elif what.startswith("Reminder"):
            self._reminder(what, state, self.records[key])

    @staticmethod
    def _reminder(what: str, state: Row, records: dict[tuple[int, str], Row]) -> None:
        cycle, permit = state["cycle"], state["permit_id"]
        key = (cycle, state["stage"])
        if what in ("ReminderPermitted", "ReminderSent"):
            permitted = what == "ReminderPermitted"
            for lower in state["supersedes"]:
                if permitted or (cycle, lower) not in records:
                    at = instant(state["timestamp"])
                    records[cycle, lower] = {"state": "superseded", "at": at, "permit": permit}
            at = instant(state["timestamp" if permitted else "sent_at"])
            said = "permitted" if permitted else "sent"
            records[key] = {"state": said, "at": at, "permit": permit}
        elif what == "ReminderFreed":
            for held in [k for k, r in records.items() if r["permit"] == permit and k[0] == cycle]:
                del records[held]
        elif records.get(key, {}).get("permit") == permit:
            ends = {"ReminderOutcomeUnknown": "unknown", "ReminderBounced": "bounced"}
            records[key]["state"] = ends[what]

    def _thread(self, what: str, event: Logged) -> None:
        state, key = event.state, event.originator_id
        if what in ("Created", "Moved"):
            thread = self.threads.setdefault(key, {"created_at": event.at})
            thread |= {k: state[k] for k in ("thread_id", "customer_id") if k in state}
            thread["position"] = event.position
        elif what == "MessageSeen":
            self.threads[key]["position"] = event.position
            seen_at = min(instant(state["seen_at"]), event.at)
            before = self.messages[key].get(state["message_id"])
            self.messages[key][state["message_id"]] = {
                "inbound": state["message"]["direction"] == "inbound",
                "automatic": state["message"].get("automatic") is not None,
                "seen_at": min(seen_at, before["seen_at"]) if before else seen_at,
            }

    def _incident(self, what: str, event: Logged) -> None:
        if what == "Created":
            self.incidents[event.originator_id] = event.state | {
                "declared_at": event.at,
                "closed_at": None,
                "position": event.position,
            }
        elif what == "Closed":
            self.incidents[event.originator_id]["closed_at"] = event.at


def instant(text: str | None) -> Any:
    """A stored time, None for none."""
    return datetime.fromisoformat(text) if text is not None else None


def day(text: str | None) -> Any:
    """A stored date, None for none."""
    return datetime.fromisoformat(text).date() if text is not None else None


def of_arrival(at: datetime, arrival: datetime) -> datetime:
    """News from more than five minutes ahead is of its arrival (design D10)."""
    return arrival if at > arrival + timedelta(minutes=5) else at
