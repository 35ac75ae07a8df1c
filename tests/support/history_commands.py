"""Strategies for the commands of random histories, with few ids, so that commands conflict."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from ledger.application.caller import Caller
from ledger.application.commands import (
    ApplyFact,
    CallPause,
    ReleaseAddress,
    RequestPermit,
    ResetBreaker,
)
from ledger.application.facts.address_hold import AddressHoldTold
from ledger.application.facts.customer_hold import CustomerHeld
from ledger.application.facts.customer_observed import CustomerObserved
from ledger.application.facts.customers_merged import CustomersMerged
from ledger.application.facts.delivery import Delivery
from ledger.application.facts.fact import Fact
from ledger.application.facts.invoice_credit import Credited
from ledger.application.facts.invoice_hold import InvoiceHeld
from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.application.facts.invoice_payment import PaymentMoved
from ledger.application.facts.payment_failed_reported import PaymentFailed
from ledger.application.facts.send_observed import SendObserved
from ledger.application.facts.thread_message import ThreadMessage
from ledger.application.kinds.apology import ApologyRequest
from ledger.application.kinds.digest import Digest
from ledger.application.kinds.follow_up import FollowUp
from ledger.application.kinds.kind import PermitSubject
from ledger.application.kinds.message import IntentMessage
from ledger.application.kinds.notification import Notification
from ledger.application.kinds.payment_failed import PaymentFailedNotice
from ledger.application.kinds.reminder import Expected, Reminder
from ledger.application.kinds.reply import Reply
from ledger.domain.balance import Status
from ledger.domain.identity import Address
from ledger.domain.payments import PaymentState
from tests.support.build import AGENT, CALLERS, OPERATOR, POLLER, address, ask, at

START = at("2026-12-01T08:00:00Z")
CUSTOMERS = st.sampled_from(["cus_1", "cus_2", "cus_3"])
ZONES = {"inv_1": None, "inv_2": None, "inv_3": "Asia/Tokyo", "inv_4": "America/New_York"}
INVOICES = st.sampled_from(sorted(ZONES))
THREADS = st.sampled_from(["thr_1", "thr_2", "thr_3", "thr_4"])
QUIET = st.sampled_from(["thr_5", "thr_6"])
"""Threads in which nobody writes: what an answer means to follow-ups is not of the histories."""
MESSAGES = st.sampled_from([f"<m{n}@example.com>" for n in range(6)])
ADDRESSES = st.sampled_from([address("pat@x.example"), address("kim@x.example")])
EVENTS = st.sampled_from(["e1", "e2", "e3", "e4"])
ATTEMPTS = st.none() | st.sampled_from(["pi_1", "pi_2"])
WRITERS = {
    f"<m{n}@example.com>": address("pat@x.example" if n % 2 else "kim@x.example") for n in range(6)
}
"""Who wrote each message: two people never share a Message-ID here."""
MAILS = st.sampled_from(["pm_1", "pm_2", "pm_3"])
STAGES = st.sampled_from(["day-3", "day-7", "day-14"])
SHORT_STEPS = st.sampled_from([timedelta(minutes=m) for m in (1, 5, 9.5, 10, 31)])
LONG_STEPS = st.sampled_from(
    [timedelta(hours=h) for h in (1, 5, 23, 24)] + [timedelta(days=d) for d in (3, 4, 8, 31)]
)
CALLER = st.sampled_from(CALLERS)


def snapshots(now: datetime) -> st.SearchStrategy[InvoiceObserved]:
    """What the billing system says of an invoice, with every field."""
    days = [-16, -10, -8, -5, -4, -3, -1, 0, 3]
    due = st.sampled_from([None, *(now.date() + timedelta(days=d) for d in days)])
    amounts = st.sampled_from([0, 2000, 5000, 30000])
    status = st.sampled_from([Status.OPEN] * 6 + [Status.PAID, Status.VOID, Status.UNCOLLECTIBLE])

    issued = st.sampled_from([None, None, None, None, now.date() - timedelta(days=2)])
    return st.builds(invoice_of, INVOICES, CUSTOMERS, amounts, status, due, issued)


def invoice_of(
    name: str,
    customer: str,
    owes: int,
    status: Status,
    due: date | None,
    issued: date | None = None,
) -> InvoiceObserved:
    """A snapshot with every field; the zone is the invoice's own."""
    return InvoiceObserved(
        name,
        customer,
        "USD",
        30000,
        owes,
        status,
        issued_on=issued,
        due_on=due,
        time_zone=ZONES[name],
    )


def messages(permits: list[str]) -> st.SearchStrategy[ThreadMessage]:
    """A message of a thread; most of them a person's, some our own mail coming back."""

    def build(
        thread: str, name: str, customer: str | None, kind: str, person: Address | None
    ) -> ThreadMessage:
        direction = "outbound" if kind == "outbound" else "inbound"
        if person is not None:
            person = WRITERS[name]
        sender, recipient = (None, person) if kind == "outbound" else (person, None)
        automatic = "Precedence marks it" if kind == "automatic" else None
        ours = permits[-1] if kind == "ours" and permits else None
        return ThreadMessage(
            thread, name, direction, sender, recipient, customer, None, automatic, ours
        )

    kinds = st.sampled_from(["person"] * 7 + ["outbound", "automatic", "ours"])
    whom = st.one_of(CUSTOMERS, CUSTOMERS, st.none())
    return st.builds(build, THREADS, MESSAGES, whom, kinds, st.none() | ADDRESSES)


def facts(now: datetime, permits: list[str], number: int) -> st.SearchStrategy[Fact]:
    """Any fact; a time that is named is never named twice, and one in the future is no time."""
    past = st.sampled_from([1, 30, 300]).map(
        lambda hours: now - timedelta(hours=hours, microseconds=number)
    )
    ahead = st.just(now + timedelta(hours=5, microseconds=number))
    when = st.one_of(st.none(), st.none(), past, past, past, ahead)
    until = st.none() | st.sampled_from([now + timedelta(hours=1), now + timedelta(days=5)])
    payments = st.builds(
        PaymentMoved,
        INVOICES,
        st.sampled_from(["p1", "p2"]),
        st.sampled_from([2000, 30000]),
        st.sampled_from(list(PaymentState)),
    )
    amounts = st.sampled_from([1000, 29000, -1000])
    credits_ = st.builds(Credited, INVOICES, st.sampled_from(["c1", "c2"]), amounts)
    reasons, on = st.sampled_from(["dispute", "promise"]), st.booleans()
    suppressions = st.sampled_from(["bounced", "unsubscribed", "blocked"])
    kinds = st.sampled_from([(), ("reply",), ("reminder", "digest")])
    emails = st.lists(ADDRESSES, max_size=2, unique=True).map(tuple)
    sent_at = st.sampled_from([timedelta(minutes=1), timedelta(hours=20), timedelta(days=3)]).map(
        lambda ago: now - ago
    )
    stage_sent = st.builds(SendObserved, CUSTOMERS, sent_at, INVOICES, STAGES)
    said = st.builds(
        SendObserved, CUSTOMERS, sent_at, st.none(), st.none(), THREADS, st.just("copy")
    )
    plain: list[st.SearchStrategy[Any]] = [
        messages(permits),
        messages(permits),
        st.builds(CustomerObserved, CUSTOMERS, emails),
        st.builds(CustomersMerged, CUSTOMERS, CUSTOMERS),
        st.builds(PaymentFailed, INVOICES, EVENTS, ATTEMPTS),
    ]
    if permits:
        events = st.sampled_from(["delivered", "bounced", "complained"])
        one = st.sampled_from(permits)
        plain.append(
            st.builds(lambda event, id_: Delivery("resend", event, None, None, id_), events, one)
        )
        plain.append(st.builds(Delivery, st.just("resend"), events, MAILS))
        plain.append(
            st.builds(
                lambda event, mail, to: Delivery("ses", event, mail, recipient=to),
                events,
                MAILS,
                ADDRESSES,
            )
        )
    dated = st.one_of(
        payments,
        payments,
        credits_,
        st.builds(InvoiceHeld, INVOICES, reasons, on, until),
        st.builds(CustomerHeld, CUSTOMERS, reasons, on, until, kinds),
        st.builds(AddressHoldTold, ADDRESSES, suppressions, on, until, kinds),
    )
    snapshot = st.builds(
        lambda said, at_: Fact(replace(said, observed_at=at_)), snapshots(now), when
    )
    return st.one_of(
        snapshot,
        snapshot,
        st.builds(lambda data, at_: Fact(data, "", None, at_), dated, when),
        st.builds(Fact, st.one_of(plain)),
        st.builds(Fact, stage_sent | said, st.just("import"), st.just(str(number))),
    )


def subjects() -> st.SearchStrategy[PermitSubject]:
    """Anything that a permit can be asked for."""
    no_stage = st.none() | STAGES
    believed = st.builds(Expected, st.sampled_from([None, 1]), st.sampled_from([None, None, 30000]))
    one = st.builds(
        lambda name, stage, expected, claim: Reminder((name,), stage, {name: expected}, claim),
        INVOICES,
        no_stage,
        st.just(Expected()) | believed,
        st.sampled_from([False, False, True]),
    )
    several = st.builds(
        Reminder, st.lists(INVOICES, min_size=2, max_size=4).map(tuple), st.none() | STAGES
    )
    whom = st.none() | CUSTOMERS
    to = st.none() | ADDRESSES
    somebody = st.one_of(st.tuples(CUSTOMERS, to), st.tuples(st.none(), ADDRESSES))
    thread = st.none() | THREADS
    return st.one_of(
        one,
        one,
        several,
        st.builds(PaymentFailedNotice, INVOICES, EVENTS, ATTEMPTS),
        st.builds(Reply, THREADS, MESSAGES),
        st.builds(Reply, THREADS, MESSAGES),
        st.builds(
            lambda event, who, thread: Notification("shipped", event, who[0], who[1], thread),
            EVENTS,
            somebody,
            thread,
        ),
        st.builds(
            lambda inbox, who: Digest(inbox, date(2026, 12, 4), who[0], who[1]),
            st.sampled_from(["i1", "i2"]),
            somebody,
        ),
        st.builds(FollowUp, QUIET, st.integers(1, 3), whom, to),
        st.builds(IntentMessage, THREADS, st.sampled_from(["copy", "refund"]), whom, to),
        st.builds(ApologyRequest, st.sampled_from(["F1", "F2"]), CUSTOMERS),
    )


def beginnings() -> list[Fact]:
    """What every history begins with: late invoices, a thread and somebody with an address."""
    day = START.date()
    told: list[Any] = [
        invoice_of("inv_1", "cus_1", 30000, Status.OPEN, day - timedelta(days=3)),
        invoice_of("inv_2", "cus_1", 30000, Status.OPEN, day - timedelta(days=8)),
        invoice_of("inv_3", "cus_2", 5000, Status.OPEN, day - timedelta(days=5)),
        CustomerObserved("cus_2", (address("pat@x.example"),)),
    ]
    for number in range(2):
        name = f"<m{number}@example.com>"
        told.append(ThreadMessage("thr_1", name, "inbound", None, None, "cus_1", None, None, None))
    return [Fact(data) for data in told]


def requests(
    now: datetime,
    permits: list[str],
    subject: st.SearchStrategy[PermitSubject] | None = None,
    by: st.SearchStrategy[Caller] = CALLER,
) -> st.SearchStrategy[RequestPermit]:
    """A request by any key, with or without an Idempotency-Key, a riding fact, an override."""

    def build(
        subject: PermitSubject,
        by: Caller,
        key: str | None,
        redeem: bool,
        action: str | None,
        snapshot: InvoiceObserved | None,
        said: ThreadMessage | None,
    ) -> RequestPermit:
        riding: tuple[Any, ...] = ()
        if isinstance(subject, Reminder) and snapshot is not None:
            riding = (snapshot,)
        elif isinstance(subject, Reply) and said is not None:
            subject = replace(subject, in_reply_to=said.message_id)
            riding = (said,)
        override = action if by is OPERATOR else None
        return ask(subject, by, key, redeem, override, facts=riding)

    rarely = st.sampled_from([None, None, None, "op-1", "op-2"])
    return st.builds(
        build,
        subject if subject is not None else subjects(),
        by,
        st.sampled_from([None, None, None, None, "K", "L"]),
        st.sampled_from([False, False, False, True]),
        rarely,
        st.none() | st.none() | snapshots(now),
        st.none() | messages(permits),
    )


def fact_command(fact: Fact) -> ApplyFact:
    """The command that takes a fact in."""
    return ApplyFact(fact, POLLER)


def pauses() -> st.SearchStrategy[CallPause]:
    """A pause, most often one that binds little: an apology needs one in force."""
    scopes = ["all", "outreach", "kind:reply", "kind:reminder", "sender:agent"]
    scope = st.sampled_from(["sender:nobody"] * 4 + scopes)
    return st.builds(CallPause, scope, st.just("flood"), st.just("ann"), st.just(OPERATOR))


def people() -> st.SearchStrategy[Any]:
    """What a human does about a customer."""
    reset = st.builds(ResetBreaker, CUSTOMERS, st.just("ann"), st.just("seen"), st.just(OPERATOR))
    release = st.builds(
        ReleaseAddress, CUSTOMERS, st.just("ann"), st.just("seen"), st.just(OPERATOR)
    )
    return st.one_of(reset, reset, release)


def handlers(key_id: str) -> st.SearchStrategy[Caller]:
    """Who may redeem and report, and sometimes somebody who may not."""
    own = next(caller for caller in CALLERS if caller.key_id == key_id)
    return st.sampled_from([own, own, own, OPERATOR, AGENT])
