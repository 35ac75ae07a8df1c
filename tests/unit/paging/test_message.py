"""What pages say: the words, the marks, the bounds, and the dedupe key that never changes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from api.paging.message import message_of
from ledger.store.alerts.outbox import Page, PagedAlert

ALERT = PagedAlert(
    alert_id=7,
    kind="breaker_opened",
    dedupe_key="breaker_opened:cus_1:5",
    summary="the breaker of customer cus_1 opened for outreach: a third mail in 24 h",
    customer_id="cus_1",
    permit_id=None,
    raised_at=datetime(2026, 12, 1, 9, 0, tzinfo=UTC),
)
PAGE = Page(
    page_id=1,
    reason="alert",
    dedupe_key=ALERT.dedupe_key,
    attempts=1,
    alerts=(ALERT,),
    kinds=(("breaker_opened", 1),),
    delivered=frozenset(),
)


def summary_of(count: int) -> Page:
    """A summary with this many alerts, the first 20 of them named."""
    alerts = tuple(replace(ALERT, alert_id=n, dedupe_key=f"k:{n}") for n in range(min(count, 20)))
    kinds = (("breaker_opened", count - 1), ("loop_guard", 1))
    return replace(PAGE, reason="summary", dedupe_key="summary:k:0", alerts=alerts, kinds=kinds)


def test_an_alert_says_what_happened_to_whom() -> None:
    message = message_of(PAGE)
    assert message.title == "breaker_opened: customer cus_1"
    assert message.body.splitlines() == [
        "the breaker of customer cus_1 opened for outreach: a third mail in 24 h",
        "dedupe key: breaker_opened:cus_1:5",
        "alert: 7, raised 2026-12-01 09:00:00Z",
    ]
    assert (message.reason, message.is_drill) == ("alert", False)


def test_an_alert_without_a_customer_is_named_by_its_kind() -> None:
    page = replace(PAGE, alerts=(replace(ALERT, customer_id=None, permit_id="p-1"),))
    message = message_of(page)
    assert message.title == "breaker_opened"
    assert message.body.splitlines()[-1] == "permit: p-1"


def test_times_are_utc() -> None:
    abroad = ALERT.raised_at.astimezone(timezone(timedelta(hours=5)))
    page = replace(PAGE, alerts=(replace(ALERT, raised_at=abroad),))
    assert message_of(page) == message_of(PAGE)


def test_a_retry_has_the_same_words() -> None:
    retry = replace(PAGE, attempts=9, delivered=frozenset({"t1"}))
    assert message_of(retry) == message_of(PAGE)


def test_a_summary_counts_kinds_and_names_the_first_keys() -> None:
    message = message_of(summary_of(399))
    assert message.title == "399 more alerts: 398 breaker_opened, 1 loop_guard"
    lines = message.body.splitlines()
    assert lines[:4] == [
        "breaker_opened: 398",
        "loop_guard: 1",
        "dedupe key: summary:k:0",
        "- alert 0: k:0",
    ]
    assert lines[-2:] == ["- alert 9: k:9", "- and 389 more: see GET /v1/alerts"]
    assert len(lines) == 14


def test_a_short_summary_names_every_key() -> None:
    lines = message_of(summary_of(2)).body.splitlines()
    assert lines[-2:] == ["- alert 0: k:0", "- alert 1: k:1"]


def test_drills_and_escalations_say_so_first() -> None:
    drill = message_of(replace(PAGE, reason="drill"))
    assert drill.title == "DRILL: breaker_opened: customer cus_1"
    assert drill.body.startswith("This is a drill of the guard check: nothing is wrong.\n")
    assert drill.is_drill
    escalation = message_of(replace(PAGE, reason="escalation"))
    assert escalation.title == "ESCALATION, not acknowledged: breaker_opened: customer cus_1"
    assert escalation.dedupe_key == ALERT.dedupe_key
    many = message_of(replace(summary_of(3), reason="escalation"))
    assert many.title == "ESCALATION, not acknowledged: 2 breaker_opened, 1 loop_guard"


def test_outside_ids_can_forge_no_line() -> None:
    forged = "cus_1\r\nBcc: everybody\u2028DRILL"
    page = replace(PAGE, alerts=(replace(ALERT, customer_id=forged, summary=forged),))
    message = message_of(page)
    assert message.title == "breaker_opened: customer cus_1 Bcc: everybody DRILL"
    assert message.body.splitlines()[0] == "cus_1 Bcc: everybody DRILL"


def test_long_texts_are_cut() -> None:
    page = replace(PAGE, alerts=(replace(ALERT, customer_id="c" * 255, summary="s" * 9000),))
    message = message_of(page)
    assert len(message.title) == 150
    assert message.title.endswith("c…")
    assert len(message.body.splitlines()[0]) == 500


def test_a_key_that_fits_no_field_is_named_by_its_digest() -> None:
    assert message_of(PAGE).short_key == ALERT.dedupe_key
    for key in ("k" * 256, "kundë:1", "a\nb", "a b"):
        message = message_of(replace(PAGE, dedupe_key=key))
        assert message.dedupe_key == key
        assert message.short_key.startswith("sha256:")
        assert len(message.short_key) == 71
    assert message_of(replace(PAGE, dedupe_key="k" * 255)).short_key == "k" * 255
