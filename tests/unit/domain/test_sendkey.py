"""Send keys are tuples, never glued text, and the provider's key follows from them alone."""

from hypothesis import given
from hypothesis import strategies as st

from ledger.domain import sendkey

_KEYS = st.lists(st.text(), min_size=1, max_size=4).map(tuple)


def test_parts_are_never_glued_together() -> None:
    assert sendkey.encode(("intent", "a:b", "c")) == b"6:intent3:a:b1:c"
    assert sendkey.encode(("intent", "a", "b:c")) == b"6:intent1:a3:b:c"


@given(_KEYS, _KEYS)
def test_different_tuples_have_different_bytes(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    assert (sendkey.encode(one) == sendkey.encode(other)) == (one == other)


def test_a_part_of_digits_and_colons_is_no_length() -> None:
    assert sendkey.encode(("1:a",)) != sendkey.encode(("a", ""))
    assert sendkey.encode(("a", "1:b")) != sendkey.encode(("a1:b",))


@given(_KEYS, st.integers(0, 5))
def test_providers_key_is_48_hex_digits_and_counts_rejections(
    key: tuple[str, ...], rejections: int
) -> None:
    first = sendkey.provider_idempotency_key((key,), rejections)
    assert len(first) == 48
    assert set(first) <= set("0123456789abcdef")
    assert first == sendkey.provider_idempotency_key((key,), rejections)
    assert first != sendkey.provider_idempotency_key((key,), rejections + 1)


@given(st.lists(_KEYS, min_size=2, max_size=4, unique=True))
def test_providers_key_of_one_mail_does_not_depend_on_the_order_of_its_invoices(
    keys: list[tuple[str, ...]],
) -> None:
    reversed_ = tuple(reversed(keys))
    assert sendkey.provider_idempotency_key(tuple(keys), 0) == (
        sendkey.provider_idempotency_key(reversed_, 0)
    )


@given(_KEYS, _KEYS)
def test_providers_key_of_two_sends_is_not_that_of_their_sum(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    together = sendkey.provider_idempotency_key((one, other), 0)
    assert together != sendkey.provider_idempotency_key(((*one, *other),), 0)
