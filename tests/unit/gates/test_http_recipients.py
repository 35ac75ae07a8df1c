"""Recipients of a call are read once, and written anew for the provider."""

import pytest

from api.gates.http.call import BadCall
from api.gates.http.recipients import Addressed, Recipient, recipient, recipients


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (None, []),
        ("pat@example.com", ["pat@example.com"]),
        ("Pat Lee <pat@example.com>", ['"Pat Lee" <pat@example.com>']),
        (
            '"Lee, Pat" <pat@example.com>, kim@example.com',
            ['"Lee, Pat" <pat@example.com>', "kim@example.com"],
        ),
        (["Zoë <zoe@example.com>", ""], ['"Zoë" <zoe@example.com>']),
        ('"x@evil.example" <pat@example.com>', ['"x@evil.example" <pat@example.com>']),
        ('"a\\"b" <pat@example.com>', ['"a\\"b" <pat@example.com>']),
    ],
)
def test_what_is_read_is_what_is_written(given: object, written: list[str]) -> None:
    found = recipients(given)
    assert [one.text for one in found] == written
    assert recipients([one.text for one in found]) == found


@pytest.mark.parametrize(
    "given",
    [
        "pat",
        "pat@example.com;kim@example.com",
        "a@b.example <c@d.example> e@f.example",
        "a@b\n.c",
        [7],
    ],
)
def test_what_is_read_in_two_ways_is_refused(given: object) -> None:
    with pytest.raises(BadCall):
        recipients(given)


def test_of_a_mail_for_many_each_gets_a_mail_of_their_own() -> None:
    pat, kim, boss = (recipient(f"{name}@example.com") for name in ("pat", "kim", "boss"))
    mail = Addressed((pat,), (kim,), (Recipient("PAT@example.com"), boss))
    assert mail.everybody() == ("PAT@example.com", "kim@example.com", "boss@example.com")
    assert mail.only(["kim@example.com"]) == Addressed((kim,))
    assert mail.only(["boss@example.com", "kim@example.com"]) == Addressed((boss,), (kim,))
    assert mail.only(["pat@example.com", "boss@example.com"]).to == (pat,)
