"""How many ids one customer may have: a chain of merges must not cost the square of its length."""

from typing import Any

import pytest

from ledger.application.ports import Loaded, Need
from ledger.domain.merged_selves import MOST_IDS
from tests.support.build import customer, merged, notification, report
from tests.support.given import given
from tests.support.memory import MemorySession


def chain(links: int) -> list[Any]:
    """Merges that make `c0` one with `c1`, that one with `c2`, and so on."""
    return [merged(f"c{number}", f"c{number + 1}") for number in range(links)]


def test_the_last_id_that_fits_is_taken_and_the_next_is_rejected() -> None:
    scenario = given(*chain(MOST_IDS - 2))
    last = f"c{MOST_IDS - 2}"
    scenario.when(merged(last, "fits")).then(result="applied")
    scenario.when(merged("fits", "too many")).then(
        result="rejected", events=[], body={"detail": f"one customer has at most {MOST_IDS} ids"}
    )


def test_two_with_many_ids_each_do_not_become_one() -> None:
    half = [merged(f"d{number}", f"d{number + 1}") for number in range(MOST_IDS // 2)]
    scenario = given(*chain(MOST_IDS // 2), *half)
    scenario.when(merged(f"c{MOST_IDS // 2}", f"d{MOST_IDS // 2}")).then(result="rejected")


def test_all_ids_of_a_long_chain_share_one_window_and_every_send() -> None:
    links = MOST_IDS - 1
    scenario = given(notification("1", customer="c0"), report(), *chain(links))
    scenario.when(notification("1", customer=f"c{links}")).then(status=409, code="already_sent")
    scenario.when(notification("2", customer="c7")).granted_now()
    scenario.when(notification("3", customer="c100")).then(status=429, code="cap_reached")


def test_an_address_that_would_make_too_many_ids_stays_with_the_one_who_has_it() -> None:
    links = MOST_IDS - 1
    scenario = given(*chain(links), notification("1", customer=None, to="pat@x.example"))
    scenario.when(customer(f"c{links}", "pat@x.example")).then(
        result="applied", alerts=["shared_address"]
    )


def test_an_id_never_heard_of_is_one_more_id_too() -> None:
    scenario = given(*(merged(f"star{number}", "middle") for number in range(MOST_IDS - 1)))
    scenario.when(merged("one more", "middle")).then(result="rejected", events=[])


def test_the_names_of_a_merged_customer_are_loaded_in_a_few_round_trips(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given 200 ids, when asked by an old one, the store is not asked once for each of them."""
    scenario = given(*(merged(f"star{number}", "middle") for number in range(200)))
    real, loads = MemorySession.load, []

    async def counted(self: MemorySession, need: Need) -> Loaded:
        loads.append(need)
        return await real(self, need)

    monkeypatch.setattr(MemorySession, "load", counted)
    scenario.when(notification("1", customer="star3")).granted_now()
    assert len(loads) <= 6
