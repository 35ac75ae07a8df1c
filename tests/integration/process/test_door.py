"""The door on real sockets: heads, bodies, pipelines, time, and connections beyond the bound."""

import json
import pickle
import select
import time

import pytest

from api.http.door.door import Door, peer_of
from api.http.door.limits import LONGEST_HEAD, LONGEST_URL, MOST_HEADERS
from api.settings.greedy_callers import DoorLimits
from tests.support.door import answer_on, guarded, one_answer, post

_GET = b"GET / HTTP/1.1\r\nHost: door\r\n"
_CLOSE = b"Connection: close\r\n\r\n"


def _refused(found: tuple[int, bytes], status: int, code: str) -> None:
    """A problem document of this code, after which the connection ends."""
    assert found[0] == status, found
    head, _, body = found[1].partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    assert b"connection: close" in head
    problem = json.loads(body)
    assert (problem["status"], problem["code"]) == (status, code)
    assert (b"retry-after: 1" in head) is (status == 503)


def test_a_request_is_answered_again_and_again_on_one_connection() -> None:
    with guarded() as service, service.socket() as opened:
        for size in (0, 3, 70_000):
            opened.sendall(post("/", size) + b"x" * size)
            assert one_answer(opened) == 200
        assert service.door.held == 0


@pytest.mark.parametrize("at_once", [True, False], ids=["one piece", "two pieces"])
def test_a_head_has_a_bound(at_once: bool) -> None:
    long = b"X-Long: " + b"x" * LONGEST_HEAD + b"\r\n"
    with guarded() as service:
        opened = service.socket(_GET)
        if not at_once:
            time.sleep(0.05)
        opened.sendall(long + _CLOSE)
        _refused(answer_on(opened), 431, "head_too_large")


def test_a_header_that_never_ends_is_cut_off() -> None:
    """Its text reaches no callback of the parser before its end."""
    with guarded() as service:
        opened = service.socket(_GET + b"X-Long: ")
        sent = 0
        opened.settimeout(0.01)
        while sent < 2**20:
            sent += opened.send(b"x" * 10_000)
            try:
                if opened.recv(1, 2):
                    break
            except TimeoutError:
                continue
        opened.settimeout(10)
        _refused(answer_on(opened), 431, "head_too_large")
        assert sent < 2**20


def test_headers_have_a_bound_of_their_number() -> None:
    with guarded() as service:
        few = b"".join(b"X-%d: 1\r\n" % n for n in range(MOST_HEADERS - 2))
        assert answer_on(service.socket(_GET + few + _CLOSE))[0] == 200
        _refused(
            answer_on(service.socket(_GET + few + b"Y: 1\r\n" + _CLOSE)), 431, "head_too_large"
        )


def test_headers_after_a_chunked_body_count_too() -> None:
    head = b"POST / HTTP/1.1\r\nHost: door\r\nTransfer-Encoding: chunked\r\n\r\n"
    trailers = b"".join(b"X-%d: %s\r\n" % (n, b"x" * 400) for n in range(90))
    with guarded() as service:
        opened = service.socket(head + b"1\r\nx\r\n0\r\n" + trailers + b"\r\n")
        _refused(answer_on(opened), 431, "head_too_large")


def test_a_target_has_a_bound() -> None:
    with guarded() as service:
        target = b"GET /?" + b"q" * LONGEST_URL + b" HTTP/1.1\r\nHost: door\r\n"
        _refused(answer_on(service.socket(target + _CLOSE)), 414, "uri_too_long")


def test_what_is_no_http_is_400() -> None:
    with guarded() as service:
        _refused(answer_on(service.socket(b"\x16\x03\x01 hello\r\n\r\n")), 400, "bad_request")


def test_an_upgrade_is_answered_as_any_request_and_ends_the_connection() -> None:
    with guarded() as service:
        upgrade = _GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        assert answer_on(service.socket(upgrade))[0] == 200


def test_who_says_nothing_is_closed_in_time() -> None:
    with guarded(first_byte=0.3) as service:
        began = time.monotonic()
        assert answer_on(service.socket()) == (0, b"")
        assert 0.2 < time.monotonic() - began < 5


def test_a_head_has_its_time() -> None:
    with guarded(head=0.3) as service:
        opened = service.socket(_GET)
        _refused(answer_on(opened), 408, "request_timeout")


def test_a_body_has_its_time_however_steadily_it_trickles() -> None:
    with guarded(body=0.5) as service:
        opened = service.socket(post("/", 100))
        for _ in range(5):
            opened.sendall(b"x")
            time.sleep(0.05)
        _refused(answer_on(opened), 408, "request_timeout")
        service.until(lambda: service.door.held == 0)


def test_an_idle_connection_is_closed_in_time() -> None:
    with guarded(idle=0.3) as service:
        opened = service.socket(post())
        assert one_answer(opened) == 200
        assert answer_on(opened) == (0, b"")


def test_a_request_that_is_being_answered_has_no_bound_here() -> None:
    with guarded(first_byte=0.2, head=0.2, body=0.2, idle=0.2) as service:
        opened = service.socket(post("/wait"))
        time.sleep(0.8)
        service.go_on.set()
        assert one_answer(opened) == 200


def test_a_refused_head_takes_no_earlier_answer_away() -> None:
    """The first request may be a permit: its answer must be its own, and come."""
    with guarded() as service:
        opened = service.socket(post("/wait", 2) + b"{}" + _GET)
        time.sleep(0.1)
        opened.sendall(b"X: " + b"x" * 70_000)
        time.sleep(0.1)
        service.go_on.set()
        status, found = answer_on(opened)
        assert status == 200
        assert found.count(b"HTTP/1.1 ") == 1


def test_a_pipeline_has_a_bound() -> None:
    with guarded() as service:
        opened = service.socket(post("/wait") + post() * 50)
        time.sleep(0.1)
        service.go_on.set()
        status, found = answer_on(opened)
        assert status == 200
        assert found.count(b"HTTP/1.1 ") < 12


def test_silent_connections_lose_their_places_to_who_asks() -> None:
    with guarded(connections=10, a_peer=10, reserve=4) as service:
        silent = [service.socket() for _ in range(40)]
        for _ in range(20):
            assert answer_on(service.socket(_GET + _CLOSE))[0] == 200
        assert sum(answer_on(each)[0] == 0 for each in silent[:30]) == 30


def test_half_heads_and_idle_connections_lose_theirs_too() -> None:
    with guarded(connections=6, a_peer=6, reserve=1) as service:
        idle = [service.socket(post()) for _ in range(3)]
        assert [one_answer(each) for each in idle] == [200] * 3
        time.sleep(1.1)
        half = [service.socket(_GET) for _ in range(3)]
        time.sleep(0.1)
        kept = [service.socket(post("/wait")) for _ in range(6)]
        service.go_on.set()
        assert [one_answer(each) for each in kept] == [200] * 6
        assert [answer_on(each)[0] for each in half + idle] == [0] * 6


def test_a_body_that_does_not_end_loses_its_place_after_a_second() -> None:
    with guarded(connections=3, a_peer=3, reserve=1) as service:
        half = [service.socket(post("/", 10) + b"x") for _ in range(3)]
        time.sleep(1.1)
        assert answer_on(service.socket(_GET + _CLOSE))[0] == 200
        (ended,), _, _ = select.select(half, [], [], 10)
        _refused(answer_on(ended), 503, "unavailable")


def test_where_all_are_being_answered_a_new_one_is_of_the_reserve_and_then_refused() -> None:
    with guarded(connections=3, a_peer=3, reserve=2) as service:
        held = [service.socket(post("/wait")) for _ in range(3)]
        time.sleep(0.1)
        on_trial = [service.socket(post("/wait")) for _ in range(2)]
        time.sleep(0.1)
        _refused(answer_on(service.socket(post())), 503, "unavailable")
        service.go_on.set()
        assert [one_answer(each) for each in held] == [200] * 3
        assert [each.recv(1_000).endswith(b" reserve") for each in on_trial] == [True] * 2


def test_one_peer_has_a_bound_below_that_of_all() -> None:
    with guarded(connections=50, a_peer=2, reserve=1) as service:
        held = [service.socket(post("/wait")) for _ in range(2)]
        time.sleep(0.1)
        on_trial = service.socket(post("/wait"))
        time.sleep(0.1)
        _refused(answer_on(service.socket(post())), 503, "unavailable")
        service.go_on.set()
        assert [one_answer(each) for each in [*held, on_trial]] == [200] * 3


def test_all_bodies_together_have_a_bound() -> None:
    with guarded(bodies=300_000) as service:
        half = []
        for _ in range(5):
            half.append(service.socket(post("/", 100_000) + b"x" * 90_000))
            time.sleep(0.05)
        (ended, *_), _, _ = select.select(half[:4], [], [], 10)
        _refused(answer_on(ended), 503, "unavailable")
        assert service.door.held <= 300_000
        half[4].sendall(b"x" * 10_000)
        assert one_answer(half[4]) == 200


def test_an_answer_that_nobody_reads_is_dropped_in_time() -> None:
    with guarded(unread_for=0.5) as service:
        opened = service.socket(_GET.replace(b"/ ", b"/large ") + b"\r\n")
        assert opened.recv(1) == b"H"
        began = time.monotonic()
        service.until(lambda: len(service.door) == 0)
        assert time.monotonic() - began > 0.4


def test_peers_are_addresses_and_networks() -> None:
    assert peer_of(("192.0.2.1", 5)) == "192.0.2.1"
    assert peer_of(("::ffff:192.0.2.1", 5)) == "192.0.2.1"
    assert peer_of(("2001:db8::1", 5)) == peer_of(("2001:db8::ffff:2", 6)) == "2001:db8::/64"
    assert peer_of(("fe80::1%eth0", 5)) == "fe80::/64"
    assert peer_of(None) == ""


def test_each_worker_process_has_a_door_of_its_own_with_the_same_limits() -> None:
    door = Door(DoorLimits(connections=17))
    copy = pickle.loads(pickle.dumps(door))
    assert copy is not door
    assert copy.limits == door.limits
