"""Every reason an answer can have: its code, HTTP status, title, and whether asking again helps."""

from datetime import datetime

from ledger.domain.value import value


@value
class Reason:
    """One code of the HTTP contract; `retryable`: may the program ask again by itself?"""

    code: str
    status: int
    title: str
    retryable: bool = False


_ALL = (
    Reason("unknown_invoice", 404, "The ledger has not been told of this invoice"),
    Reason("unknown_thread", 404, "The thread is new and names neither a customer nor an address"),
    Reason("unknown_message", 404, "The message replied to is not known"),
    Reason("unknown_incident", 404, "There is no such incident"),
    Reason("unknown_customer", 404, "The ledger has not been told of this customer"),
    Reason("unknown_permit", 404, "There is no such permit"),
    Reason("already_sent", 409, "This send has already been made"),
    Reason("duplicate_intent", 409, "This thread has already had this intent"),
    Reason("similar_intent", 409, "This thread has had an intent that says the same"),
    Reason("already_replied", 409, "This message has already been replied to"),
    Reason("outbound_message", 409, "The message replied to is one of ours"),
    Reason("auto_generated", 409, "The message replied to was written by a machine"),
    Reason("own_message", 409, "The message replied to is our own mail coming back"),
    Reason("answered", 409, "A person has answered; follow-ups stop"),
    Reason("superseded", 409, "A later follow-up has been sent"),
    Reason("nothing_owed", 409, "Nothing is owed on this invoice"),
    Reason("voided", 409, "The invoice is void"),
    Reason("subscription_ended", 409, "The subscription that the mail is about has ended"),
    Reason("no_due_date", 409, "The invoice has no due date"),
    Reason("stale_cycle", 409, "The invoice is in another cycle than expected"),
    Reason("amount_changed", 409, "The amount owed is not the expected one"),
    Reason("apology_already_sent", 409, "The customer has already had an apology"),
    Reason("not_paused", 409, "An apology needs a pause in force"),
    Reason("too_late", 409, "The mail comes too late to be of use"),
    Reason("not_past_due", 409, "The invoice is not past due", True),
    Reason("not_reached", 409, "The stage is not reached yet", True),
    Reason("stage_superseded", 409, "A later stage took the place of this one", True),
    Reason("balance_below_stage", 409, "Too little is owed for this stage", True),
    Reason("payment_in_flight", 409, "A payment is on its way", True),
    Reason("facts_stale", 409, "What is known of the invoice is too old to remind of it", True),
    Reason("reminded_recently", 409, "The customer had a reminder mail a short time ago", True),
    Reason("on_hold", 409, "The invoice or customer is on hold", True),
    Reason("permit_held", 409, "A live permit exists for this send", True),
    Reason("outcome_unknown", 409, "The outcome of an earlier try is not known", True),
    Reason("already_redeemed", 409, "The permit has been redeemed already", True),
    Reason("revoked", 409, "The facts changed since the permit was granted", True),
    Reason("expired", 409, "The permit was not used in time", True),
    Reason("not_owner", 409, "Another holder has the lease of this job", True),
    Reason("breaker_open", 409, "The breaker of this customer is open"),
    Reason("paused", 409, "Sending is paused"),
    Reason("recovery_mode", 409, "The ledger was restored and waits for a human"),
    Reason("address_on_hold", 409, "Mail to this address bounced or was complained about"),
    Reason("already_settled", 409, "The permit has another outcome already"),
    Reason("guard_not_proven", 409, "No guard check has passed since the pause"),
    Reason("key_limit", 403, "The limits of this key do not allow it"),
    Reason("riding_facts_refused", 403, "This key may not tell the ledger what rides along"),
    Reason("key_conflict", 422, "The Idempotency-Key was used for another request"),
    Reason("invalid_request", 422, "The request is not valid"),
    Reason("unknown_intent", 422, "The key may not use this intent"),
    Reason("cap_reached", 429, "The customer has had as many mails as allowed"),
    Reason("loop_guard", 429, "Too many replies in this thread or to this customer", True),
    Reason("rate_limited", 429, "This key asks for more than one key may at once", True),
    Reason("clock_suspect", 503, "The clocks disagree; nothing is granted until they agree", True),
    Reason("unavailable", 503, "The ledger cannot answer now", True),
)
REASONS = {reason.code: reason for reason in _ALL}
"""Every reason by its code."""


@value
class Original:
    """The send that a duplicate repeats."""

    permit_id: str | None
    sender: str | None
    sent_at: datetime | None
    provider_message_id: str | None


@value
class Denial:
    """A no: its code, what a support person needs to act, and when waiting helps (UTC).

    `available_at` is from when on a program may ask again by itself; where a human must act first,
    a time that only they need is `frees_at`. `counts_refusal` is the full window whose refusal
    counts towards a flood.
    """

    code: str
    detail: str
    available_at: datetime | None = None
    permit_id: str | None = None
    original: Original | None = None
    due_stage: str | None = None
    opens_breaker: str | None = None
    counts_refusal: str | None = None
    frees_at: datetime | None = None
    trips_loop_guard: bool = False

    @property
    def reason(self) -> Reason:
        """The entry of REASONS for this denial's code."""
        return REASONS[self.code]

    @property
    def retryable(self) -> bool:
        """May the program ask again by itself? Also where it is known when waiting is over."""
        return self.reason.retryable or self.available_at is not None
