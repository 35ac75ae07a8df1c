"""The commands `audit` and `erase`: verify the log, sign its head, erase addresses."""

import json
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from api.cli.one_command import run_command, user_name
from api.cli.session import clear_errors, console, counted, opened_store
from api.settings.environment import Settings, load_settings
from ledger.application.caller import SYSTEM
from ledger.application.commands import Erase
from ledger.store.looking_back.audit import Checkpoint, Verification, verify
from ledger.store.looking_back.checkpoints import (
    BadCheckpoint,
    SignedCheckpoint,
    epoch_of,
    public_key,
    read_checkpoints,
    sign_head,
    signing_key,
)
from ledger.store.statements import statement

_File = click.Path(dir_okay=False, path_type=Path)
_KEY_FILE = "checkpoint-key.pem"


@click.group("audit")
def audit_group() -> None:
    """Show that the log is what was written, and sign its end."""


@audit_group.command("verify", short_help="Recompute the hash chain; name the first bad position.")
@click.option(
    "--against",
    multiple=True,
    type=_File,
    help="A file of checkpoints, kept elsewhere; may be given several times.",
)
@click.option("--public-key", help="The key that signed them (default: that of the key file here).")
@click.option("--key", "key_file", type=_File, help="The key file (default: in LEDGER_DATA_DIR).")
@click.option(
    "--resume", type=_File, help="Keep in this file how far the log is good, and go on from there."
)
@clear_errors
def audit_verify(
    against: tuple[Path, ...], public_key: str | None, key_file: Path | None, resume: Path | None
) -> None:
    """Recompute the hash chain, and name the first bad position; exit code 1 if there is one.

    Without --against it shows that the log is whole; with it, also that nothing up to the
    checkpoints was rewritten, nor cut off since.
    """
    settings = load_settings()
    with opened_store(settings) as conninfo:
        try:
            trusted = public_key or (_trusted(settings, key_file) if against else None)
            kept = _kept(against, trusted, epoch_of(conninfo))
            start = _read_start(resume) if resume is not None else None
        except (BadCheckpoint, OSError) as error:
            raise click.ClickException(str(error)) from error
        found = _verify_with_progress(conninfo, start, kept, resume)
    _tell(found, kept)
    if not found.ok:
        raise click.exceptions.Exit(1)


@audit_group.command("checkpoint", short_help="Sign the end of the log as it is now.")
@click.option("--to", "target", type=_File, help="Add it to this file (default: print it).")
@click.option("--key", "key_file", type=_File, help="The key file (default: in LEDGER_DATA_DIR).")
@clear_errors
def audit_checkpoint(target: Path | None, key_file: Path | None) -> None:
    """Sign the end of the log as it is now; keep the line and the public key elsewhere.

    The key is made at its first use.
    """
    settings = load_settings()
    with opened_store(settings) as conninfo:
        try:
            key = signing_key(key_file or settings.data_dir / _KEY_FILE)
            signed = sign_head(conninfo, key)
            if target is not None:
                with target.open("a", encoding="utf-8") as file:
                    file.write(signed.text() + "\n")
        except (BadCheckpoint, OSError) as error:
            raise click.ClickException(str(error)) from error
    click.echo(f"public key: {public_key(key)}", err=True)
    if target is None:
        click.echo(signed.text())
    else:
        click.echo(f"position {signed.position} is signed in {target}", err=True)


@audit_group.command("roles", short_help="Print SQL that gives the log an owner of its own.")
@click.option("--app", default="ledger", show_default=True, help="The role that serve connects as.")
@click.option("--owner", default="ledger_owner", show_default=True)
def audit_roles(app: str, owner: str) -> None:
    """Print the SQL that gives the log to a role of its own; for a superuser's psql."""
    for name, value in (("app", app), ("owner", owner)):
        click.echo(f"SET ledger.{name} = '{value.replace(chr(39), chr(39) * 2)}';")
    click.echo(statement("audit", "separate_owner"))


@click.command("erase", short_help="Remove a customer's addresses.")
@click.argument("customer")
@click.option("--by", help="Who asks for it (default: your user name here).")
@clear_errors
def erase_command(customer: str, by: str | None) -> None:
    """Remove a customer's addresses, and those of the ids merged into it; the log stays."""
    run_command(Erase(customer, by or user_name(), SYSTEM))
    click.echo(f"the addresses of {customer} are erased; log, hashes and counts are untouched")


def _trusted(settings: Settings, key_file: Path | None) -> str:
    path = key_file or settings.data_dir / _KEY_FILE
    if not path.exists():
        raise BadCheckpoint(f"name the --public-key that signed them: there is no key at {path}")
    return public_key(signing_key(path))


def _kept(against: tuple[Path, ...], trusted: str | None, ledger: str) -> list[SignedCheckpoint]:
    return [signed for path in against for signed in read_checkpoints(path, trusted, ledger)]


def _verify_with_progress(
    conninfo: str,
    start: Checkpoint | None,
    kept: list[SignedCheckpoint],
    resume: Path | None,
) -> Verification:
    columns = ("verifying", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("verifying", total=None)

        def show(reached: Checkpoint, last: int) -> None:
            progress.update(task, completed=reached.position, total=max(last, 1))
            if resume is not None:
                _write_start(resume, reached)

        against = [signed.checkpoint for signed in kept]
        return verify(conninfo, start=start, against=against, progress=show)


def _tell(found: Verification, kept: list[SignedCheckpoint]) -> None:
    if not found.ok:
        click.echo(
            f"position {found.first_bad_position} is bad: {found.problem}; "
            f"{found.checked} events before it are good"
        )
        return
    click.echo(f"good: {counted(found.checked, 'event')}, up to position {found.head_position}")
    click.echo(f"its hash: {found.head_hash.hex()}")
    if kept:
        click.echo(f"it agrees with {counted(len(kept), 'checkpoint')}")


def _read_start(path: Path) -> Checkpoint | None:
    """The position that an earlier run reached. Raises BadCheckpoint, OSError."""
    if not path.exists():
        return None
    try:
        said = json.loads(path.read_text(encoding="ascii"))
        return Checkpoint(int(said["position"]), bytes.fromhex(said["hash"]))
    except (ValueError, KeyError, TypeError) as error:
        raise BadCheckpoint(f"{path} is not what an earlier run left there; remove it") from error


def _write_start(path: Path, reached: Checkpoint) -> None:
    fresh = path.with_name(f".{path.name}.new")
    said = {"position": reached.position, "hash": reached.hash.hex()}
    fresh.write_text(json.dumps(said) + "\n", encoding="ascii")
    fresh.replace(path)
