"""Schemas of a decision with its explanation (contract: People)."""

from typing import Any, Literal

from api.contract.fields import Body, Instant


class GuardVerdict(Body):
    """The verdict of one guard; `about` is the send key that it judged, null for the whole mail.

    `denies_when` is its rule. Guards after one that denied were not evaluated.
    """

    guard: str
    denies_when: str
    about: str | None
    verdict: Literal["passed", "denied", "not_judged"]
    code: str | None
    detail: str | None
    available_at: Instant | None


class Explained(Body):
    """The guards, evaluated again on the log up to `position` with the policy of that time.

    `reproduced`: the result is the answer that was given. `state` is the guards' input: the
    switches, the customer, the invoices, the thread and, for a redeem, the permit.
    """

    position: str
    reproduced: bool
    guards: list[GuardVerdict]
    state: dict[str, Any]


class DecisionDetail(Body):
    """One decision: who asked for what, the answer, and why; a null `code` is a yes."""

    decision_id: str
    decided_at: Instant
    operation: Literal["permit", "redeem"]
    key_id: str
    sender: str
    kind: str | None
    customer_id: str | None
    invoice_id: str | None
    thread_id: str | None
    status: int
    code: str | None
    replayed: bool
    repeats: int
    policy: str
    policy_text: dict[str, Any] | None
    position: str
    request: dict[str, Any]
    answer: dict[str, Any]
    explanation: Explained | None
