"""Ids that begin or end with a character that nobody sees."""

import pytest

from ledger.domain.identity import has_unseen_end

UNSEEN = [
    " ",
    "\t",
    "\n",
    "\u00a0",
    "\u00ad",
    "\u034f",
    "\u061c",
    "\u115f",
    "\u1680",
    "\u180e",
    "\u2003",
    "\u200b",
    "\u200d",
    "\u200f",
    "\u2028",
    "\u202e",
    "\u202f",
    "\u2060",
    "\u2800",
    "\u3000",
    "\u3164",
    "\ufe0f",
    "\ufeff",
    "\U000e0020",
    "\U000e0100",
]


@pytest.mark.parametrize("character", UNSEEN, ids=[f"U+{ord(c):04X}" for c in UNSEEN])
def test_an_unseen_character_counts_at_either_end_and_not_within(character: str) -> None:
    assert has_unseen_end(f"INV-1{character}")
    assert has_unseen_end(f"{character}INV-1")
    assert has_unseen_end(character)
    assert has_unseen_end(f"Ä1{character}")
    assert not has_unseen_end(f"INV{character}1")


@pytest.mark.parametrize(
    "text", ["INV-1", "2026/001", "(7)", "Ä", "発票", "नमस्ते", "e\u0301", "\U0001f9fe", "", "a b"]
)
def test_ends_that_are_seen_are_left_alone(text: str) -> None:
    assert not has_unseen_end(text)
