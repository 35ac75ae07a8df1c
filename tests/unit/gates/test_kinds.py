"""What gates know of the kinds of mail."""

from api.gates.kinds import ANSWER, KINDS, NOTICE, SEVERAL_INVOICES, TAKES_TO, TO_EACH


def test_the_fields_of_a_kind_say_how_a_gate_asks_for_it() -> None:
    assert TAKES_TO == {"reply", "message", "follow_up", "notification", "digest"}
    assert TO_EACH == {"notification", "digest"}
    assert SEVERAL_INVOICES == {"reminder"}
    assert (ANSWER, NOTICE) == ("reply", "notification")
    assert TAKES_TO | {"reminder", "payment_failed", "apology"} == set(KINDS)
