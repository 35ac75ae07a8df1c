"""What a mail carries of its permit: it round-trips, and nothing forged is taken for it."""

import hmac
from email.message import EmailMessage
from hashlib import blake2b
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.domain.identity import LONGEST_MESSAGE_NAME, message_id, message_name
from ledger.domain.permit import Lane
from ledger.domain.send_imprint import (
    MOST_DIGESTS,
    MailProof,
    SendImprint,
    imprinted_message_id,
    key_digest,
    proof_in_message_id,
    proof_in_token,
    read_imprint,
    send_token,
)
from ledger.domain.sendkey import encode
from tests.support.build import SECRET

_OTHER = b"another secret of 32 bytes, too."
_PERMIT = "4f5f6f7f-0000-4000-8000-000000000000"
_ONE = SendImprint("r", Lane.OUTREACH, (key_digest(SECRET, ("stage", "inv_1", "1", "day-3")),))

permits = st.uuids().map(str)
digests = st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=26, max_size=26)
imprints = st.builds(
    SendImprint,
    st.sampled_from("rpyndfma"),
    st.sampled_from(Lane),
    st.lists(digests, min_size=1, max_size=MOST_DIGESTS).map(tuple),
)


def test_a_digest_is_of_the_key_and_the_secret() -> None:
    digest = key_digest(SECRET, ("intent", "thr_1", "refund"))
    assert len(digest) == 26
    assert digest == digest.lower()
    assert digest != key_digest(SECRET, ("intent", "thr_1r", "efund"))
    assert digest != key_digest(_OTHER, ("intent", "thr_1", "refund"))


@given(permits, imprints)
def test_any_token_round_trips(permit_id: str, told: SendImprint) -> None:
    token = send_token(SECRET, permit_id, told.text)
    assert proof_in_token(SECRET, token) == MailProof(permit_id, told)


@given(permits, imprints, st.sampled_from([" ", "\r\n ", "\n\t", ""]))
def test_folding_and_case_leave_a_token_what_it_is(
    permit_id: str, told: SendImprint, fold: str
) -> None:
    token = send_token(SECRET, permit_id, told.text).replace(" ", fold)
    assert proof_in_token(SECRET, f" {token.upper()} ") == MailProof(permit_id, told)


@given(permits, imprints, st.data())
def test_an_altered_token_is_refused(
    permit_id: str, told: SendImprint, data: st.DataObject
) -> None:
    token = send_token(SECRET, permit_id, told.text)
    place = data.draw(st.integers(0, len(token) - 1))
    put = data.draw(st.sampled_from("0az27-._ "))
    altered = token[:place] + put + token[place + 1 :]
    same = "".join(altered.split()) == "".join(token.split())
    assert (proof_in_token(SECRET, altered) is not None) == same


@given(permits, imprints)
def test_a_token_of_another_secret_is_refused(permit_id: str, told: SendImprint) -> None:
    assert proof_in_token(_OTHER, send_token(SECRET, permit_id, told.text)) is None


@pytest.mark.parametrize(
    "text",
    ["", "--", "a-b-c", "x" * 5000, f"{_PERMIT}-{_ONE.text}", "é-é-é", "-ro-0123456789abcdef"],
)
def test_no_other_text_is_a_token(text: str) -> None:
    assert proof_in_token(SECRET, text) is None


def test_a_digest_is_base32() -> None:
    key = ("intent", "thr_1", "refund")
    own = hmac.digest(SECRET, b"send-imprint", "sha256")
    raw = blake2b(encode(key), digest_size=26, key=own, person=b"send-key").digest()
    digits = "abcdefghijklmnopqrstuvwxyz234567"
    assert key_digest(SECRET, key) == "".join(digits[byte % 32] for byte in raw)


def test_a_token_of_one_send_fits_where_providers_keep_metadata() -> None:
    token = send_token(SECRET, _PERMIT, _ONE.text)
    assert len(token) == 77
    assert set(token) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_a_token_is_written_plainly_by_the_standard_library() -> None:
    message = EmailMessage()
    message["X-Ledger-Send"] = send_token(SECRET, _PERMIT, _ONE.text)
    assert b"=?" not in message.as_bytes()


def test_a_token_in_encoded_words_proves_the_same() -> None:
    message = EmailMessage()
    mac = imprinted_message_id(SECRET, _PERMIT, _ONE.text, "x.example").split(".")[2][:16]
    longer = f"{_PERMIT.replace('-', '')}-{_ONE.text}-{mac}"
    message["X-Ledger-Send"] = longer
    (line,) = [value for name, value in _raw_headers(message) if name == "X-Ledger-Send"]
    assert "=?" in line
    assert proof_in_token(SECRET, line) == MailProof(_PERMIT, _ONE)
    assert proof_in_token(SECRET, longer) == MailProof(_PERMIT, _ONE)
    assert proof_in_token(SECRET, "=?utf-8?q?=?=") is None
    assert proof_in_token(SECRET, "=?no-such-charset?q?abc?=") is None


def _raw_headers(message: EmailMessage) -> list[tuple[str, str]]:
    """The headers as they are written, unfolded but not decoded."""
    head = message.as_bytes().decode().partition("\n\n")[0].replace("\n ", " ")
    return [
        (name, value) for name, _, value in (line.partition(": ") for line in head.splitlines())
    ]


def test_a_long_token_can_be_folded() -> None:
    many = SendImprint("r", Lane.OUTREACH, (_ONE.digests * MOST_DIGESTS)[:MOST_DIGESTS])
    token = send_token(SECRET, _PERMIT, many.text)
    assert len(token) <= 4096
    assert max(map(len, token.split())) < 78


@given(permits, imprints, st.text("abcdefgh.", min_size=1, max_size=220))
def test_any_message_id_names_its_permit_and_the_digests_that_fit(
    permit_id: str, told: SendImprint, domain: str
) -> None:
    mine = imprinted_message_id(SECRET, permit_id, told.text, domain)
    inner = mine.strip("<>")
    older = message_id(SECRET, permit_id, domain)
    assert message_name(mine) == mine or len(inner) > LONGEST_MESSAGE_NAME
    assert len(inner) <= max(LONGEST_MESSAGE_NAME, len(older) - 2)
    proof = proof_in_message_id(SECRET, mine)
    assert proof is not None
    assert proof.permit_id == permit_id
    if proof.imprint is None:
        assert mine == older
    else:
        named = proof.imprint.digests
        assert proof.imprint == SendImprint(told.kind, told.lane, told.digests[: len(named)])
        assert named == told.digests or len(inner) + 26 > LONGEST_MESSAGE_NAME


def test_a_message_id_in_another_case_and_domain_is_ours() -> None:
    mine = imprinted_message_id(SECRET, _PERMIT, _ONE.text, "ledger.example")
    expected = MailProof(_PERMIT, _ONE)
    assert proof_in_message_id(SECRET, mine.upper()) == expected
    assert proof_in_message_id(SECRET, mine.replace("ledger.example", "relay.example")) == expected


@given(st.integers(0, 100), st.sampled_from("0az27."))
def test_an_altered_message_id_is_refused(place: int, put: str) -> None:
    mine = imprinted_message_id(SECRET, _PERMIT, _ONE.text, "ledger.example").strip("<>")
    left, _, domain = mine.partition("@")
    place %= len(left)
    altered = left[:place] + put + left[place + 1 :]
    assert (proof_in_message_id(SECRET, f"{altered}@{domain}") is None) == (altered != left)


def test_a_message_id_of_the_older_form_is_still_ours() -> None:
    older = message_id(SECRET, _PERMIT, "ledger.example")
    assert proof_in_message_id(SECRET, older) == MailProof(_PERMIT)
    assert imprinted_message_id(SECRET, _PERMIT, "", "ledger.example") == older


def test_nothing_is_told_by_a_digest_without_the_secret() -> None:
    token = send_token(SECRET, _PERMIT, _ONE.text)
    assert UUID(token.partition("-")[0]) == UUID(_PERMIT)
    assert "inv_1" not in token


@pytest.mark.parametrize("text", ["", "r", "ro" + "a" * 25, "rx", "ro" + "A" * 26, "ro" + "1" * 26])
def test_other_texts_are_no_marks(text: str) -> None:
    assert read_imprint(text) is None
