"""What to do after a denial or an error: one of five actions, and one sentence."""

from enum import StrEnum

from ledger.domain.value import value


class Action(StrEnum):
    """What kind of thing to do next."""

    STOP = "stop"
    """Nothing: this mail is not to be sent."""
    RETRY_AT = "retry_at"
    """Ask again by itself: at `available_at` or after `Retry-After`, else some time later."""
    ASK_HUMAN = "ask_human"
    """Nothing that a program does helps: a person must look and act."""
    FIX_REQUEST = "fix_request"
    """Ask for something else: the request cannot be granted as it is."""
    FIND_OUT = "find_out"
    """Learn what happened to an earlier try before anything else is done."""


@value
class NextStep:
    """An action and its sentence."""

    action: Action
    sentence: str


def _stop(sentence: str) -> NextStep:
    return NextStep(Action.STOP, sentence)


def _retry(sentence: str) -> NextStep:
    return NextStep(Action.RETRY_AT, sentence)


def _human(sentence: str) -> NextStep:
    return NextStep(Action.ASK_HUMAN, sentence)


def _fix(sentence: str) -> NextStep:
    return NextStep(Action.FIX_REQUEST, sentence)


def _find_out(sentence: str) -> NextStep:
    return NextStep(Action.FIND_OUT, sentence)


_READ_AGAIN = _fix("Read the invoice again, and ask with what is true now.")
_NEW_PERMIT = _fix("Do not send; ask for a new permit.")
_LOOP = _stop("Do not reply: a reply would start a loop.")
_DONE = _stop("Do not send: this mail went out already.")

NEXT_STEPS: dict[str, NextStep] = {
    "unknown_invoice": _fix("Send the invoice's snapshot first, then ask again."),
    "unknown_thread": _fix("Name a customer_id or an address in `to`."),
    "unknown_message": _fix("Send the message as a fact first, then ask again."),
    "unknown_incident": _fix("Look up the incident's id; a closed incident takes no apologies."),
    "unknown_customer": _fix("Check the customer's id."),
    "unknown_permit": _fix("Check the permit's id."),
    "already_sent": _DONE,
    "duplicate_intent": _DONE,
    "similar_intent": _stop("Do not send: the same was said in this thread under another intent."),
    "already_replied": _stop("Do not reply: this message has its answer."),
    "answered": _stop("Do not follow up: a person has answered; answer them."),
    "superseded": _stop("Do not send: a later follow-up went out."),
    "outbound_message": _stop("Do not reply to a mail of our own; answer inbound messages only."),
    "auto_generated": _LOOP,
    "own_message": _LOOP,
    "nothing_owed": _stop("Do not send: nothing is owed."),
    "voided": _stop("Do not send: the invoice is void."),
    "subscription_ended": _stop("Do not send: the subscription has ended."),
    "no_due_date": _stop("Do not send: the invoice can never be past due."),
    "stale_cycle": _READ_AGAIN,
    "amount_changed": _READ_AGAIN,
    "apology_already_sent": _stop("Do not send: the customer has had an apology."),
    "not_paused": _human("Have a person pause the source of the flood, then ask again."),
    "too_late": _stop("Do not send: nobody needs this mail any more."),
    "not_past_due": _retry("Wait until the invoice is past due."),
    "not_reached": _retry("Wait until the stage is reached."),
    "stage_superseded": _fix("Ask for the stage in due_stage, or name no stage."),
    "balance_below_stage": _retry("Do not send now; ask again if a payment is taken back."),
    "payment_in_flight": _retry("Wait until the pending payment has ended."),
    "facts_stale": _fix("Send the invoice's snapshot of now, then ask again."),
    "reminded_recently": _retry("Wait: the customer had a reminder a short time ago."),
    "on_hold": _retry("Wait until the hold ends, or have a person lift it."),
    "permit_held": _retry("Wait; if permit_id is yours, redeem it, or report what became of it."),
    "outcome_unknown": _find_out("Find the mail in the provider's log, and report its outcome."),
    "already_redeemed": _find_out("Do not send; find out whether your earlier try sent the mail."),
    "revoked": _NEW_PERMIT,
    "expired": _NEW_PERMIT,
    "not_owner": _retry("Stop the job; ask for the lease again later."),
    "breaker_open": _human("Stop; a person must look at this customer and reset the breaker."),
    "paused": _human("Stop sending until a person resumes."),
    "recovery_mode": _human("Stop; a person must import what was sent, and resume."),
    "address_on_hold": _human("Stop; a person must find another address, or release this one."),
    "already_settled": _stop("Report nothing more: the permit has its outcome."),
    "guard_not_proven": _fix("Run a guard check, and name its id."),
    "key_conflict": _fix("Use a new Idempotency-Key for a new request."),
    "invalid_request": _fix("Correct the request; errors says where it is wrong."),
    "unknown_intent": _fix("Use an intent that the key has."),
    "cap_reached": _human("Stop; a person must find out who sends this customer so much."),
    "loop_guard": _retry("Wait for Retry-After; two programs may be answering each other."),
    "clock_suspect": _retry("Wait for Retry-After; nothing was granted."),
    "unavailable": _retry("Send nothing; ask again with the same Idempotency-Key."),
    "stale": _retry("Wait for Retry-After, then read again."),
    "unauthorized": _fix("Give a known API key in the header Authorization."),
    "forbidden": _fix("Use a key that may do this; an admin makes one."),
    "key_limit": _fix("Ask only for what the key's limits allow, or use another key."),
    "riding_facts_refused": _fix("Ask without these facts, or tell them with a key that may."),
    "not_found": _fix("Check the path and the id."),
    "method_not_allowed": _fix("Use a method that the header Allow names."),
    "too_large": _fix("Send less at once."),
    "rate_limited": _retry("Wait for Retry-After, and ask with fewer requests at once."),
    "bad_request": _fix("Send requests of HTTP/1.1, one after the other."),
    "request_timeout": _retry("Send the whole request without a pause."),
    "uri_too_long": _fix("Shorten the path and its query."),
    "head_too_large": _fix("Send fewer and shorter headers."),
    "bad_signature": _human("Have a person compare the webhook's secret with the provider's."),
    "log_changed": _fix("Forget the position, and read again without after."),
}
"""What to do after each code."""
DEFECT = _human("Send nothing; have a person look at the service's log.")
"""What to do where the service itself failed."""
WAIT = _retry("Wait until available_at, then ask again.")
"""What to do after a denial that ends by itself, though others of its code need a person."""
