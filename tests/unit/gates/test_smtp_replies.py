"""The one reply for all recipients of a mail, and what a denial becomes."""

import pytest
from sendledger import Denied
from sendledger.effects import Reply

from api.gates.fate import Fate
from api.gates.smtp.replies import Result, later, refused, reply_to

SENT = Result(("a@x.example",), Fate.SENT, 250, "2.0.0", "queued as 7")


def _denied(code: str, status: int = 409, how: str = "reject") -> Result:
    problem = {"code": code, "title": "T", "detail": "D", "next_step": "Do this."}
    return refused(("b@x.example",), Denied(Reply(status, problem)), how)


@pytest.mark.parametrize(
    ("result", "reply"),
    [
        (SENT, "250 2.0.0 queued as 7"),
        (_denied("already_sent"), "550 5.7.1 already_sent: D. Do this."),
        (_denied("paused"), "550 5.7.1 paused: D. Do this."),
        (_denied("paused", how="drop"), "250 2.7.1 dropped, paused: D. Do this."),
        (_denied("permit_held"), "451 4.7.1 permit_held: D. Do this."),
        (_denied("permit_held", how="drop"), "451 4.7.1 permit_held: D. Do this."),
        (_denied("unauthorized", 401), "451 4.7.1 unauthorized: D. Do this."),
        (_denied("key_limit", 403), "550 5.7.1 key_limit: D. Do this."),
        (later(("b@x.example",), "away"), "451 4.3.0 away"),
    ],
)
def test_one_permit_is_one_reply(result: Result, reply: str) -> None:
    assert reply_to([result]) == reply


@pytest.mark.parametrize(
    ("others", "code"),
    [
        ([SENT], 250),
        ([_denied("already_sent")], 250),
        ([_denied("paused", how="drop")], 250),
        ([_denied("paused")], 550),
        ([_denied("paused"), later((), "away")], 451),
        ([_denied("already_sent"), _denied("paused")], 550),
    ],
)
def test_a_reply_is_250_only_where_nobody_lacks_the_mail(others: list[Result], code: int) -> None:
    assert reply_to([SENT, *others]).startswith(f"{code}")


def test_where_everybody_had_it_before_the_program_hears_no() -> None:
    had = _denied("already_sent")
    assert reply_to([had, had]).splitlines()[0] == (
        "550-5.7.1 2 of 2 recipients have the mail; a repeat goes to none of them"
    )


def test_a_reply_has_bounds_and_one_meaning_for_each_line() -> None:
    long = Result(("ü@x.example",), Fate.REFUSED, 550, "5.7.1", "x\r\n250 ok" + "y" * 1000)
    lines = reply_to([SENT, *[long] * 200]).split("\r\n")
    assert len(lines) == 20
    assert all(line.startswith("550-5.7.1 ") for line in lines[:-1])
    assert lines[-1] == "550 5.7.1 and 182 more"
    assert max(map(len, lines)) <= 512 - 2
    assert lines[1].startswith(r"550-5.7.1 <\xfc@x.example>: x  250 ok")
