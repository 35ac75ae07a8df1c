"""Send keys: the tuple that names one real-world send, and the provider's key derived from it."""

import hashlib
from typing import TypeAlias

SendKey: TypeAlias = tuple[str, ...]
"""A kind followed by the parts that name the send, for example ('stage', 'inv_1', '1', 'day-7')."""


def stage_key(invoice_id: str, cycle: int, stage: str) -> SendKey:
    """A dunning stage of one past-due run of an invoice."""
    return ("stage", invoice_id, str(cycle), stage)


def payment_event_key(invoice_id: str, event_id: str) -> SendKey:
    """A provider's event about a failed payment."""
    return ("payment-event", invoice_id, event_id)


def payment_attempt_key(invoice_id: str, attempt_id: str) -> SendKey:
    """A failed attempt to pay, which several events may report."""
    return ("payment-attempt", invoice_id, attempt_id)


def reply_key(message_id: str) -> SendKey:
    """The inbound message replied to, over all threads, senders and intents."""
    return ("reply", message_id)


def intent_key(thread_id: str, intent: str) -> SendKey:
    """What is said, once in a thread."""
    return ("intent", thread_id, intent)


def follow_up_key(thread_id: str, step: int) -> SendKey:
    """A numbered follow-up in a thread."""
    return ("follow-up", thread_id, str(step))


def notification_key(customer_id: str, event_type: str, event_id: str) -> SendKey:
    """A notice about one event of the business."""
    return ("notification", customer_id, event_type, event_id)


def digest_key(customer_id: str, inbox_id: str, date: str) -> SendKey:
    """The digest of an inbox for one day."""
    return ("digest", customer_id, inbox_id, date)


def apology_key(incident_id: str, customer_id: str) -> SendKey:
    """The one apology of an incident to a customer (design D14)."""
    return ("apology", incident_id, customer_id)


def override_key(action_id: str) -> SendKey:
    """A human's deliberate repeat, once per action."""
    return ("override", action_id)


def encode(key: SendKey) -> bytes:
    """The tuple as bytes, each part length-prefixed: ('a:b', 'c') and ('a', 'b:c') differ."""
    encoded = b""
    for part in key:
        text = part.encode()
        encoded += b"%d:%b" % (len(text), text)
    return encoded


def digest_of(key: SendKey) -> bytes:
    """sha256 of the encoded key: its name in the table of names."""
    return hashlib.sha256(encode(key)).digest()


def provider_idempotency_key(keys: tuple[SendKey, ...], rejections: int) -> str:
    """The key for the mail provider: the first 48 hex digits of sha256 over the send keys.

    It counts the rejections (design D6), so that the next try after a definite refusal is a new
    request to the provider while every retry of one try is the same. The order in which a request
    names its invoices does not matter: it is one mail.
    """
    named = b"%d;" % rejections
    for key in sorted(keys):
        encoded = encode(key)
        named += b"%d:%b" % (len(encoded), encoded)
    return hashlib.sha256(named).hexdigest()[:48]
