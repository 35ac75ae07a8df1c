"""Normal form and fingerprint of addresses (design D9), and our own Message-IDs (D18)."""

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ledger.domain.identity import (
    ADDRESS_CUSTOMER_PREFIX,
    Address,
    BadAddress,
    aggregate_id,
    customer_known_by,
    fingerprint,
    known_by_address,
    message_id,
    message_name,
    normal_form,
    permit_of_message_id,
)
from tests.support.build import SECRET, address

_OTHER = b"another secret of 32 bytes, too."


@pytest.mark.parametrize(
    "spelling",
    [
        "billing@müller.example",
        "Billing@MÜLLER.example",
        "billing@mu\u0308ller.example",
        "BILLING@MU\u0308LLER.EXAMPLE",
        "billing@xn--mller-kva.example",
        "billing@XN--MLLER-KVA.example",
        "billing@müller.example.",
        "  billing@müller.example ",
        "billing@müller\u3002example",
        "billing@ＭÜＬＬＥＲ.example",
        '"billing"@müller.example',
        '"Bill\\ing"@müller.example',
        "bill\u200bing@müller.example",
        "\ufeffbilling@mül\u00adler.example",
    ],
)
def test_spellings_of_one_mailbox(spelling: str) -> None:
    assert normal_form(spelling) == "billing@xn--mller-kva.example"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ops@mail.example", "ops+invoices@mail.example"),
        ("ops@mail.example", "o.ps@mail.example"),
        ("a@strasse.example", "a@straße.example"),
        ("ä@mail.example", "a@mail.example"),
        ("a@mail.example", "a@mail.test"),
    ],
)
def test_mailboxes_that_are_kept_apart(one: str, other: str) -> None:
    assert fingerprint(SECRET, one) != fingerprint(SECRET, other)


def test_a_domain_with_sharp_s_is_the_one_that_its_ascii_form_names() -> None:
    assert normal_form("a@straße.example") == normal_form("a@xn--strae-oqa.example")


@pytest.mark.parametrize(
    ("one", "other"),
    [("ÅSA@x.example", "a\u030asa@x.example"), ("STRASSE@x.example", "straße@x.example")],
)
def test_local_parts_are_case_folded(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


def test_a_quoted_at_sign_belongs_to_the_local_part() -> None:
    assert normal_form('"a@b"@X.example') == '"a@b"@x.example'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@",
        "a@",
        "@x.example",
        "plain",
        "a b@x.example",
        "Pat <pat@x.example>",
        "a@x.example\nBcc: b@x.example",
        "a@\u0600.example",
        "a" * 320 + "@x.example",
        "a@.",
        "pat@x.example,kim@x.example",
        "pat@x.example;kim@x.example",
        "pat@x.example,kim",
        "pat@x.example,",
        "pat,kim@x.example",
        "mailto:pat@x.example",
        "pat(work)@x.example",
        "pat\u00a0s@x.example",
        "\u200b@x.example",
        '""@x.example',
    ],
)
def test_no_address(text: str) -> None:
    with pytest.raises(BadAddress):
        normal_form(text)


@given(st.emails())
def test_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    once = normal_form(text)
    assert normal_form(once) == once


@given(st.text(min_size=1, max_size=20))
def test_any_local_part_has_one_normal_form_for_all_its_cases(local: str) -> None:
    try:
        once = normal_form(f"{local}@x.example")
    except BadAddress:
        assume(False)
    assert normal_form(once) == once
    for other in (unicodedata.normalize("NFD", local), local.casefold()):
        assert normal_form(f"{other}@x.example") == once


def test_a_fingerprint_is_keyed_and_tells_nothing_of_the_address() -> None:
    mine, theirs = fingerprint(SECRET, "pat@x.example"), fingerprint(_OTHER, "pat@x.example")
    assert mine != theirs
    assert len(mine) == 32
    assert mine == fingerprint(SECRET, "PAT@x.example")


def test_somebody_known_by_address_alone() -> None:
    pat = address("Pat@x.example")
    assert customer_known_by(pat) == ADDRESS_CUSTOMER_PREFIX + fingerprint(SECRET, "pat@x.example")


def test_aggregate_ids_do_not_mix_kinds_and_ids() -> None:
    assert aggregate_id("invoice", "1") == aggregate_id("invoice", "1")
    assert aggregate_id("invoice", "1") != aggregate_id("thread", "1")
    assert aggregate_id("a", "bc") != aggregate_id("ab", "c")


_PERMIT = "0b6f0d2e-5f5e-4d55-9f0f-0e2f7f1f7a10"


def test_our_own_message_id_is_recognised_without_a_look_up() -> None:
    mine = message_id(SECRET, _PERMIT, "ledger.example")
    assert mine.startswith(f"<{_PERMIT}.")
    assert mine.endswith("@ledger.example>")
    assert permit_of_message_id(SECRET, mine) == _PERMIT
    assert permit_of_message_id(SECRET, f"  {mine[1:-1]} ") == _PERMIT


def test_a_forged_message_id_is_not_ours() -> None:
    mine = message_id(SECRET, _PERMIT, "ledger.example")
    other = _PERMIT.replace("0b6f", "0b6e")
    for forged in (
        mine.replace(_PERMIT, other),
        message_id(_OTHER, _PERMIT, "ledger.example"),
        f"<{_PERMIT}@ledger.example>",
        f"<{_PERMIT}.@ledger.example>",
        "<m1@example.com>",
        "",
    ):
        assert permit_of_message_id(SECRET, forged) is None


@given(st.text())
def test_no_foreign_text_is_taken_for_our_message_id(text: str) -> None:
    assert permit_of_message_id(SECRET, text) is None


def test_a_billing_id_that_looks_like_an_address_customers_is_none() -> None:
    """Only `adr_` and a whole fingerprint name a customer known by their address (D9)."""
    known = customer_known_by(Address("pat@example.com", "0123456789abcdef" * 2))
    assert known_by_address(known)
    assert not known_by_address("adr_17")
    assert not known_by_address("adr_" + "z" * 32)
    assert not known_by_address("0123456789abcdef" * 2)


@pytest.mark.parametrize(
    ("told", "name"), [("<a@b>", "<a@b>"), ("a@b", "<a@b>"), (" x.1 ", "x.1"), ("<x.1>", "x.1")]
)
def test_a_message_goes_by_one_name_with_and_without_brackets(told: str, name: str) -> None:
    assert message_name(told) == name
