"""A decision with its explanation, as it is answered (contract: People)."""

from typing import Any, Literal

from api.contract.fields import Body, Instant


class GuardVerdict(Body):
    """What one guard said; `about` is the send key that it judged, null for the mail as a whole.

    `denies_when` is its rule. A guard behind one that denied was not judged.
    """

    guard: str
    denies_when: str
    about: str | None
    verdict: Literal["passed", "denied", "not_judged"]
    code: str | None
    detail: str | None
    available_at: Instant | None


class Explained(Body):
    """The guards judged once more over the log up to `position`, by the policy then.

    `reproduced`: they come to the answer that was given. `state` is what they looked at: the
    switches, the customer, the invoices, the thread and, for a redeem, the permit.
    """

    position: str
    reproduced: bool
    guards: list[GuardVerdict]
    state: dict[str, Any]


class DecisionDetail(Body):
    """One answer: who asked for what, what they heard, and why; `code` null is a yes."""

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
    policy: str
    policy_text: dict[str, Any] | None
    position: str
    request: dict[str, Any]
    answer: dict[str, Any]
    explanation: Explained | None
