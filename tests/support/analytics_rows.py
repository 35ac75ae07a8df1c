"""The rows that each view for analysts must have, worked out from an independent pass."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from tests.support.analytics_pass import Pass, Row, day, instant, of_arrival

_ZONES = {
    "CET": "Europe/Brussels",
    "MET": "Europe/Brussels",
    "EET": "Europe/Athens",
    "WET": "Europe/Lisbon",
}
_PLACES = {
    "pending": 0,
    "failed": 1,
    "succeeded": 2,
    "credit": 2,
    "reversed": 3,
    "credit_taken_back": 3,
}
_DUPLICATES = {
    "already_sent",
    "duplicate_intent",
    "similar_intent",
    "already_replied",
    "apology_already_sent",
}
_CONCURRENT = {"permit_held", "outcome_unknown", "already_redeemed"}
_COUNTS = (
    "request_count",
    "granted_count",
    "denied_count",
    "duplicate_count",
    "concurrent_count",
    "sent_count",
    "rejected_count",
    "unknown_count",
    "observed_count",
)


class Rows(Pass):
    """A pass that gives the rows of the views by their names."""

    def view(self, name: str, decisions: Iterable[Any]) -> list[Row]:
        """The rows of a view; those that are not of the log alone need the decisions."""
        if name in ("decisions", "denials", "senders_daily"):
            method: Callable[..., Iterable[Row]] = getattr(self, f"_{name}")
            return list(method(list(decisions)))
        return list(getattr(self, f"_{name}")())

    def _sends(self) -> Iterable[Row]:
        for permit_id, mail in self.mails.items():
            permit = mail["permit"]
            items = permit["items"]
            first = items[0] if items else {}
            granted, redeemed, settled = (
                instant(permit["granted_at"]),
                mail["redeemed_at"],
                mail["settled_at"],
            )
            yield {
                "permit_id": UUID(permit_id),
                "kind": permit["kind"],
                "lane": permit["lane"],
                "sender": permit["sender"],
                "customer_id": mail["customer_id"],
                "owner_customer_id": self.owner(mail["customer_id"]),
                "state": mail["state"],
                "is_observed": mail["observed"],
                "is_reminder": bool(items)
                or (permit["kind"] == "observed" and permit.get("invoice_id") is not None),
                "is_redeem_required": permit["redeem_required"],
                "granted_at": granted,
                "redeemed_at": redeemed,
                "settled_at": settled,
                "send_by_at": instant(permit["send_by"]),
                "counts_at": counts_at(mail),
                "granted_day": granted.date(),
                "redeemed_after_seconds": (redeemed - granted).total_seconds()
                if redeemed
                else None,
                "settled_after_seconds": (settled - granted).total_seconds() if settled else None,
                "invoice_id": first.get("invoice_id", permit.get("invoice_id")),
                "cycle": first.get("cycle"),
                "stage": first.get("stage"),
                "invoice_count": len(items),
                "thread_id": permit.get("thread_id"),
                "incident_id": permit.get("incident_id"),
            }

    def _invoices(self) -> Iterable[Row]:
        for key, invoice in self.invoices.items():
            snapshot = invoice.get("snapshot") or {}
            standing = invoice.get("standing") or {
                "status": "draft",
                "balance": 0,
                "cycle": 1,
                "starts_on": None,
            }
            observed = instant(snapshot.get("observed_at"))
            zone = snapshot.get("time_zone") or self.time_zone
            yield self._names(key) | {
                "currency": snapshot.get("currency"),
                "total_minor_units": snapshot.get("total"),
                "balance_minor_units": standing["balance"],
                "status": standing["status"],
                "issued_on": day(snapshot.get("issued_on")),
                "due_on": day(snapshot.get("due_on")),
                "time_zone": _ZONES.get(zone, zone) if snapshot else None,
                "cycle": standing["cycle"],
                "past_due_from": day(standing["starts_on"]),
                "is_held_indefinitely": invoice["held"][0],
                "held_until": invoice["held"][1],
                "payment_in_flight_until": instant(invoice.get("in_flight_until")),
                "last_reminder_at": max(
                    (
                        record["at"]
                        for record in self.records[key].values()
                        if record["state"] != "superseded"
                    ),
                    default=None,
                ),
                "snapshot_at": of_arrival(observed, invoice["arrived"]) if observed else None,
                "source": (snapshot.get("source") or "") if snapshot else None,
            }

    def _names(self, key: UUID) -> Row:
        invoice = self.invoices[key]
        customer = (invoice.get("snapshot") or {}).get("customer_id")
        return {
            "invoice_key": key,
            "invoice_id": invoice["invoice_id"],
            "customer_id": customer,
            "owner_customer_id": self.owner(customer),
        }

    def _stages(self) -> Iterable[Row]:
        for key, records in self.records.items():
            for (cycle, stage), record in records.items():
                yield self._names(key) | {
                    "cycle": cycle,
                    "stage": stage,
                    "state": record["state"],
                    "recorded_at": record["at"],
                    "permit_id": UUID(record["permit"]) if record["permit"] else None,
                }

    def _payments(self) -> Iterable[Row]:
        for (key, credit, name), words in self.payments.items():
            last = max(
                words,
                key=lambda w: (w["at"], _PLACES[w["state"]], abs(w["amount"]), w["amount"]),
            )
            gave = [w["at"] for w in words if _PLACES[w["state"]] == 2]
            took = [w["at"] for w in words if _PLACES[w["state"]] == 3]
            snapshot = self.invoices[key].get("snapshot") or {}
            yield self._names(key) | {
                "payment_id": name,
                "is_credit": credit,
                "state": last["state"],
                "amount_minor_units": last["amount"],
                "currency": snapshot.get("currency"),
                "state_at": last["at"],
                "first_at": min(w["at"] for w in words),
                "succeeded_at": min(gave, default=None),
                "reversed_at": max(took, default=None),
                "log_position": words[-1]["position"],
            }

    def _threads(self) -> Iterable[Row]:
        for key, thread in self.threads.items():
            seen = self.messages[key].values()
            customer = thread["customer_id"] or None
            yield {
                "thread_id": thread["thread_id"],
                "customer_id": customer,
                "owner_customer_id": self.owner(customer),
                "created_at": thread["created_at"],
                "inbound_count": sum(m["inbound"] for m in seen),
                "outbound_count": sum(not m["inbound"] for m in seen),
                "automatic_count": sum(m["automatic"] for m in seen),
                "first_message_at": min((m["seen_at"] for m in seen), default=None),
                "last_message_at": max((m["seen_at"] for m in seen), default=None),
                "log_position": thread["position"],
            }

    def _incidents(self) -> Iterable[Row]:
        for incident in self.incidents.values():
            yield {
                "incident_id": incident["incident_id"],
                "title": incident["title"],
                "cause": incident["cause"],
                "window_from": instant(incident["window_from"]),
                "window_to": instant(incident["window_to"]),
                "declared_at": incident["declared_at"],
                "closed_at": incident["closed_at"],
                "log_position": incident["position"],
            }

    def _customers_daily(self) -> Iterable[Row]:
        days: dict[tuple[Any, str | None], list[Row]] = defaultdict(list)
        for send in self._sends():
            if send["counts_at"] is not None:
                days[send["counts_at"].date(), send["owner_customer_id"]].append(send)
        for (on, customer), sends in days.items():
            yield {
                "day": on,
                "customer_id": customer,
                "mail_count": len(sends),
                "outreach_count": sum(s["lane"] == "outreach" for s in sends),
                "reminder_count": sum(s["is_reminder"] for s in sends),
                "observed_count": sum(s["is_observed"] for s in sends),
                "unknown_count": sum(s["state"] == "unknown" for s in sends),
            }

    def _decided(self, row: Any) -> Row:
        return {
            "decision_id": UUID(row.decision_id),
            "decided_at": row.decided_at,
            "decided_day": row.decided_at.date(),
            "log_position": row.position,
            "operation": row.operation,
            "sender": row.sender,
            "key_id": row.key_id,
            "kind": row.kind,
            "customer_id": row.customer_id,
            "owner_customer_id": self.owner(row.customer_id),
            "invoice_id": row.invoice_id,
            "thread_id": row.thread_id,
            "http_status": row.status,
            "code": row.code,
            "request_count": answer_of(row).get("repeats", 1),
        }

    def _decisions(self, rows: list[Any]) -> Iterable[Row]:
        for row in rows:
            yield self._decided(row) | {
                "is_granted": row.status < 300 and not row.replayed,
                "is_replay": row.replayed,
                "policy_version": row.policy,
            }

    def _denials(self, rows: list[Any]) -> Iterable[Row]:
        for row in rows:
            if row.code is None:
                continue
            answer = answer_of(row)
            yield self._decided(row) | {
                "is_duplicate": row.code in _DUPLICATES,
                "is_concurrent": row.code in _CONCURRENT,
                "is_retryable": answer["retryable"],
                "available_at": instant(answer.get("available_at")),
                "original_permit_id": (answer.get("original") or {}).get("permit_id"),
            }

    def _senders_daily(self, rows: list[Any]) -> Iterable[Row]:
        counts: dict[tuple[Any, str], Row] = defaultdict(lambda: dict.fromkeys(_COUNTS, 0))
        for row in rows:
            if row.operation != "permit":
                continue
            count, times = counts[row.decided_at.date(), row.sender], 1
            if row.code is not None:
                times = answer_of(row).get("repeats", 1)
                count["denied_count"] += times
                count["duplicate_count"] += times * (row.code in _DUPLICATES)
                count["concurrent_count"] += times * (row.code in _CONCURRENT)
            count["request_count"] += times
            count["granted_count"] += row.status < 300 and not row.replayed
        for send in self._sends():
            count = counts[send["granted_day"], send["sender"]]
            count["sent_count"] += send["state"] == "sent" and not send["is_observed"]
            count["rejected_count"] += send["state"] == "rejected"
            count["unknown_count"] += send["state"] == "unknown"
            count["observed_count"] += send["is_observed"]
        for (on, sender), count in counts.items():
            yield {"day": on, "sender": sender} | count


def counts_at(mail: Row) -> datetime | None:
    """From when a mail counts in the rolling windows (design D8), from its stored fields."""
    permit, state = mail["permit"], mail["state"]
    granted, send_by = instant(permit["granted_at"]), instant(permit["send_by"])
    redeemed: datetime | None = mail["redeemed_at"]
    if state in ("rejected", "expired"):
        return None
    if state == "revoked":
        return redeemed or (None if permit["redeem_required"] else granted)
    latest: datetime = redeemed or granted
    if state == "unknown":
        return max(send_by, latest)
    if state == "sent" and mail["settled_at"] is not None:
        return max(latest, min(mail["settled_at"], send_by))
    return latest


def answer_of(row: Any) -> Row:
    """The stored answer of a decision."""
    answer: Row = orjson.loads(row.answer)
    return answer
