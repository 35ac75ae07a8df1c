"""What the gates know of kinds is what the contract says."""

from typing import get_args

from api.contract.permits import Asked, PermitRequest
from api.gates.kinds import KINDS, TAKES_TO
from api.gates.purpose import MOST_COPIES

_REQUESTS = {
    get_args(request.model_fields["kind"].annotation)[0]: request
    for request in get_args(get_args(PermitRequest)[0])
}


def test_the_gates_know_every_kind_and_which_take_an_address() -> None:
    assert set(_REQUESTS) == set(KINDS)
    assert {kind for kind, one in _REQUESTS.items() if "to" in one.model_fields} == TAKES_TO


def test_a_permit_takes_as_many_copies_as_the_gate_asks_for() -> None:
    most = [f"r{number}@example.com" for number in range(MOST_COPIES)]
    assert Asked.model_validate({"cc": most}).cc == most
