"""What gates know of the kinds of mail."""

from api.gates.kinds import ANSWER, KINDS, NOTICE, SEVERAL_INVOICES, TAKES_TO, TO_EACH


def test_the_fields_of_a_kind_say_how_a_gate_asks_for_it() -> None:
    assert {"reply", "message", "follow_up", "notification", "digest"} == TAKES_TO
    assert {"notification", "digest"} == TO_EACH
    assert {"reminder"} == SEVERAL_INVOICES
    assert (ANSWER, NOTICE) == ("reply", "notification")
    assert TAKES_TO | {"reminder", "payment_failed", "apology"} == set(KINDS)
