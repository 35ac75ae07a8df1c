"""The spool: what a process that is gone left behind is reported once, by whoever comes next."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from clients.python.tests.stub import FACES, PERMIT_ID, Face, Stub, lost, no

from sendledger import Permit, kinds
from sendledger.spool import DIED, Spool

ASK = kinds.notification(event_type="shipped", event_id="9", customer_id="C1")
OWNER = "http://ledger.test slk_test"
KILLED = """
import os, signal, sys
from sendledger.spool import Spool
spool = Spool(sys.argv[1], "http://ledger.test slk_test")
spool.handing_over("died")
spool.handing_over("told")
spool.outcome("told", {"outcome": "sent", "provider_message_id": "re_1"})
spool.handing_over("reported")
spool.outcome("reported", {"outcome": "sent"})
spool.done("reported")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(params=sorted(FACES))
def spooling(request: pytest.FixtureRequest, stub: Stub, tmp_path: Path) -> Any:
    """Makes clients of one kind on the stand-in, with one spool."""
    made: list[Face] = []

    def make() -> Face:
        face: Face = FACES[request.param](
            "http://ledger.test",
            "slk_test",
            transport=stub.transport,
            pace=stub.pace,
            spool=tmp_path,
        )
        made.append(face)
        return face

    yield make
    for face in made:
        face.close()


def test_a_report_that_failed_is_made_at_the_next_start(
    spooling: Any, stub: Stub, tmp_path: Path
) -> None:
    first = spooling()
    stub.then("outcome", *[lost] * 200)
    first.send_once(ASK, lambda permit: "re_1")
    stub.script.clear()
    first.close()
    assert "example.com" not in "".join(p.read_text() for p in tmp_path.iterdir())
    second = spooling()
    stub.asked.clear()
    assert second.flush() == 0
    assert stub.bodies("outcome") == [{"outcome": "sent", "provider_message_id": "re_1"}]
    assert second.flush() == 0
    assert len(stub.asked) == 1
    second.close()
    assert list(tmp_path.iterdir()) == []


def test_the_next_question_reports_what_is_left(spooling: Any, stub: Stub) -> None:
    face = spooling()
    stub.then("outcome", *[lost] * 200)
    face.send_once(ASK, lambda permit: "re_1")
    stub.script.clear()
    stub.asked.clear()
    stub.clock.now += 60
    face.send_once(ASK, lambda permit: "re_2")
    paths = [r.url.path.rsplit("/", 1)[-1] for r in stub.asked]
    assert paths == ["outcome", "permits", "redeem", "outcome"]


def test_what_the_ledger_refuses_for_good_is_not_told_again(spooling: Any, stub: Stub) -> None:
    face = spooling()
    stub.then("outcome", no(409, "already_settled"))
    face.send_once(ASK, lambda permit: "re_1")
    assert face.flush() == 0
    assert len(stub.calls("outcome")) == 1


def test_a_key_that_was_revoked_keeps_the_outcome(spooling: Any, stub: Stub) -> None:
    face = spooling()
    stub.then("outcome", no(401, "unauthorized"))
    face.send_once(ASK, lambda permit: "re_1")
    assert face.flush() == 0
    assert len(stub.calls("outcome")) == 2


def test_an_outcome_that_is_refused_for_good_does_not_hold_up_the_others(
    spooling: Any, stub: Stub, tmp_path: Path
) -> None:
    left = Spool(tmp_path, OWNER)
    left.outcome("p1", {"outcome": "sent"})
    left.outcome("p2", {"outcome": "sent"})
    left.close()
    face = spooling()
    stub.then("outcome", no(403, "forbidden"))
    assert face.flush() == 0
    assert [r.url.path.split("/")[3] for r in stub.asked] == ["p1", "p2"]


def test_while_the_ledger_is_away_a_question_does_not_wait_long_for_old_reports(
    spooling: Any, stub: Stub, tmp_path: Path
) -> None:
    left = Spool(tmp_path, OWNER)
    for number in range(50):
        left.outcome(f"p{number}", {"outcome": "sent"})
    left.close()
    face, began = spooling(), stub.clock.now
    stub.always("outcome", lost)
    face.send_once(ASK, lambda permit: permit.rejected())
    assert len(stub.calls("permits")) == 1
    assert stub.clock.now - began <= 2.0 + 30.0
    assert face.flush() == 51


def test_the_hand_over_is_on_disk_before_the_mail_goes_out(
    spooling: Any, stub: Stub, tmp_path: Path
) -> None:
    seen: list[str] = []

    def looks(permit: Permit) -> None:
        seen.extend(path.read_text() for path in tmp_path.iterdir())

    spooling().send_once(ASK, looks)
    assert PERMIT_ID in seen[0]
    assert '"outcome":"unknown"' in seen[0]


def test_what_a_killed_process_left_is_taken_over_once(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert killed.returncode == -9
    next_one, another = Spool(tmp_path, OWNER), Spool(tmp_path, OWNER)
    assert Spool(tmp_path, "http://ledger.test slk_other").leftovers() == []
    left = dict(next_one.leftovers())
    assert left == {"died": DIED, "told": {"outcome": "sent", "provider_message_id": "re_1"}}
    assert another.leftovers() == []
    for permit_id in left:
        next_one.done(permit_id)
    next_one.close()
    assert another.leftovers() == []
    another.close()


def test_a_living_process_keeps_its_file_and_a_closed_one_gives_it_up(tmp_path: Path) -> None:
    one, other = Spool(tmp_path, OWNER), Spool(tmp_path, OWNER)
    one.handing_over("p1")
    assert other.leftovers() == []
    one.close()
    assert [name for name, _ in other.leftovers()] == ["p1"]


def test_a_forked_child_has_a_file_of_its_own(tmp_path: Path) -> None:
    spool = Spool(tmp_path, OWNER)
    spool.handing_over("parent")
    child = os.fork()
    if child == 0:
        spool.handing_over("child")
        os._exit(0)
    os.waitpid(child, 0)
    assert [name for name, _ in spool.leftovers()] == ["child"]


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    spool = Spool(tmp_path, OWNER)
    spool.handing_over("whole")
    (path,) = tmp_path.iterdir()
    spool.close()
    with path.open("ab") as file:
        file.write(b'{"permit_id":"torn","rep')
    assert [name for name, _ in Spool(tmp_path, OWNER).leftovers()] == ["whole"]


def test_the_file_and_what_waits_in_it_are_bounded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool = Spool(tmp_path, OWNER, most_bytes=2_000, most_pending=5)
    spool.handing_over("kept")
    for number in range(200):
        spool.handing_over(f"p{number}")
        spool.done(f"p{number}")
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2_500
    for number in range(6):
        spool.handing_over(f"q{number}")
    assert "the spool is full" in caplog.text
    spool.close()
    left = [name for name, _ in Spool(tmp_path, OWNER).leftovers()]
    assert left == ["kept", "q0", "q1", "q2", "q3"]
