"""Over HTTP: a mail whose permit nobody redeemed, though its key must (D6)."""

from tests.support.service import Service


def test_a_skipped_redeem_is_warned_of_counted_and_paged_once(service: Service, name: str) -> None:
    sender = service.client("send", name=name)
    counted = _skipped(service)
    for number in range(2):
        asked = {"customer_id": f"{name}-{number}", "event_type": "t", "event_id": "1"}
        permit = sender.ask("notification", **asked).ok(201)["permit_id"]
        answer = sender.report(permit, "sent").ok()
        assert (answer["state"], answer.headers["ledger-warning"]) == ("sent", "redeem-skipped")
    keys = [alert["dedupe_key"] for alert in service.alerts("redeem_skipped")]
    assert keys.count(f"redeem_skipped:{sender.key_id}") == 1
    assert _skipped(service) == counted + 2
    found = [f["what"] for f in service.get("/v1/diagnosis").ok()["findings"]]
    assert [what for what in found if what.startswith(f"{name} (key {sender.key_id}) mails")]


def test_in_a_batch_and_with_an_idempotency_key_it_is_warned_of_and_counted_too(
    service: Service, name: str
) -> None:
    sender = service.client("send", name=name)
    counted = _skipped(service)
    one, two, three = (
        sender.ask("notification", customer_id=f"{name}-{n}", event_type="t", event_id="1").ok(201)[
            "permit_id"
        ]
        for n in range(3)
    )
    sender.redeem(three).ok()
    outcomes = [{"permit_id": permit, "outcome": "sent"} for permit in (one, three)]
    told = sender.post("/v1/permits/outcomes", {"outcomes": outcomes}).ok()["results"]
    assert [item.get("warnings") for item in told] == [["redeem-skipped"], None]
    alone = sender.post(f"/v1/permits/{two}/outcome", {"outcome": "sent"}, key=name).ok()
    assert alone.headers["ledger-warning"] == "redeem-skipped"
    assert _skipped(service) == counted + 2


def _skipped(service: Service) -> float:
    metrics = service.without_key().get("/metrics").text
    counted = "send_ledger_redeems_skipped_total "
    (line,) = (line for line in metrics.splitlines() if line.startswith(counted))
    return float(line.split()[1])
