"""A hold of an address knows who told it: one provider cannot lift what another one stops."""

import json
from typing import Any

import pytest

from ledger.application.commands import ReleaseAddress
from tests.support.build import (
    OPERATOR,
    address_hold,
    address_unhold,
    at,
    customer,
    fact,
    notification,
)
from tests.support.given import Scenario, given
from tests.support.told import posted, told

PAT = "pat@x.example"
UNIX = 1796169600


def mailgun(id: str = "1") -> list[Any]:
    """Pat unsubscribed at Mailgun."""
    event = {"event": "unsubscribed", "id": id, "timestamp": UNIX, "recipient": PAT}
    return list(posted("mailgun", {"event-data": event}))


def sendgrid(event: str, id: str) -> list[Any]:
    """A word of SendGrid, later than Mailgun's."""
    body = [{"event": event, "email": PAT, "timestamp": UNIX + 100, "sg_event_id": id}]
    return list(posted("sendgrid", body))


def ses_complaint() -> list[Any]:
    inner = {
        "notificationType": "Complaint",
        "complaint": {
            "complainedRecipients": [{"emailAddress": PAT}],
            "timestamp": "2026-12-02T10:00:00.000Z",
        },
        "mail": {"messageId": "0100", "destination": [PAT]},
    }
    body = {"Type": "Notification", "MessageId": "q", "Message": json.dumps(inner)}
    return list(posted("ses", body))


def postmark(stopped: bool, why: str | None, when: str) -> list[Any]:
    """A change of Postmark's suppressions."""
    body = {
        "RecordType": "SubscriptionChange",
        "MessageStream": "outbound",
        "ChangedAt": when,
        "Recipient": PAT,
        "Origin": "Customer",
        "SuppressSending": stopped,
        "SuppressionReason": why,
    }
    return list(posted("postmark", body))


def denied(scenario: Scenario) -> str | None:
    """Why Pat is not mailed, None if they are."""
    scenario.when(notification(f"n{scenario.store.now}", customer=None, to=PAT))
    code = scenario.body.get("code")
    assert code is None or isinstance(code, str)
    return code


def now() -> Scenario:
    return given(at("2026-12-20"), customer("cus_1", PAT))


def test_sendgrid_does_not_lift_what_mailgun_told() -> None:
    scenario = now().when(*mailgun(), *sendgrid("resubscribe", "2"))
    assert denied(scenario) == "on_hold"
    scenario.when(*sendgrid("unsubscribe", "3"), *sendgrid("resubscribe", "4"))
    assert denied(scenario) == "on_hold"


def test_the_opposite_event_of_the_same_provider_lifts_it() -> None:
    scenario = now().when(*sendgrid("unsubscribe", "1"))
    assert denied(scenario) == "on_hold"
    assert denied(scenario.when(*sendgrid("resubscribe", "2"))) is None


@pytest.mark.parametrize("why", ["HardBounce", "SpamComplaint", "ManualSuppression"])
def test_a_reactivation_lifts_what_postmark_told_and_no_more(why: str) -> None:
    again = postmark(False, None, "2026-12-10T11:00:00Z")
    scenario = now().when(*postmark(True, why, "2026-12-05T11:00:00Z"))
    assert denied(scenario) == "address_on_hold"
    assert denied(scenario.when(*again)) is None
    scenario = now().when(*ses_complaint(), *again)
    assert denied(scenario) == "address_on_hold"


def test_a_hold_that_names_no_source_is_lifted_by_anybody() -> None:
    """As all holds are that were told before holds knew their source."""
    held = fact(address_hold(PAT, "unsubscribed"), "2026-12-01T00:00:00Z")
    scenario = now().when(held, *sendgrid("resubscribe", "2"))
    assert denied(scenario) is None


def test_whoever_names_no_source_lifts_what_each_of_them_told() -> None:
    scenario = now().when(*mailgun(), *sendgrid("unsubscribe", "2"))
    assert denied(scenario) == "on_hold"
    assert denied(scenario.when(address_unhold(PAT, "unsubscribed"))) is None


def test_a_release_may_name_whose_hold_it_lifts() -> None:
    wish = {"address": PAT, "reason": "unsubscribed"}
    scenario = now().when(
        *mailgun(), told("address.unhold", wish | {"told_by": "sendgrid"}, source="support")
    )
    assert scenario.body["detail"] == "it is still held by what was told by mailgun (told_by)"
    assert denied(scenario) == "on_hold"
    scenario.when(told("address.unhold", wish | {"told_by": "mailgun"}, source="support"))
    assert denied(scenario) is None


def test_a_release_lifts_what_each_source_told() -> None:
    scenario = now().when(
        *ses_complaint(), *postmark(True, "SpamComplaint", "2026-12-05T11:00:00Z")
    )
    scenario.when(ReleaseAddress("cus_1", "ann", "they asked for it", OPERATOR))
    assert denied(scenario) is None
