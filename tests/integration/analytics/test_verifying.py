"""`export verify` finds whatever was done to an export since."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import psycopg
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from api.cli.main import main
from api.exports.manifest import FOLDER
from api.exports.verifying import verify_export
from ledger.store.looking_back.checkpoints import public_key, sign_head
from tests.integration.analytics.conftest import add_history
from tests.integration.analytics.exported import exported


def first(folder: Path, pattern: str) -> Path:
    return sorted(folder.glob(pattern))[0]


def change_a_byte(folder: Path) -> None:
    path = first(folder, "sends/*/*")
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def remove_a_file(folder: Path) -> None:
    first(folder, "invoices/*/*").unlink()


def remove_the_first_range(folder: Path) -> None:
    first(folder, f"{FOLDER}/*").unlink()


def remove_a_range(folder: Path) -> None:
    sorted(folder.glob(f"{FOLDER}/*"))[1].unlink()


def rename_a_manifest(folder: Path) -> None:
    path = first(folder, f"{FOLDER}/*")
    path.rename(path.with_name(f"{'9' * 12}-{'9' * 12}.json"))


def rewrite_an_event(folder: Path) -> None:
    """With a hash of the file in its manifest that fits: only the chain tells."""
    path = first(folder, "events/*/*")
    table = pq.read_table(path, partitioning=None)
    states = table.column("state").to_pylist()
    states[3] = states[3].replace("cus_1", "cus_2").replace("30000", "20000") + " "
    column = table.schema.get_field_index("state")
    pq.write_table(table.set_column(column, "state", [states]), path)
    content = path.read_bytes()
    manifest = first(folder, f"{FOLDER}/*")
    said = json.loads(manifest.read_text())
    for file in said["tables"]["events"]["files"]:
        if str(path).endswith(file["path"]):
            file["sha256"], file["bytes"] = hashlib.sha256(content).hexdigest(), len(content)
    manifest.write_text(json.dumps(said, indent=1) + "\n")


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (change_a_byte, "was changed: its sha256 is another one"),
        (remove_a_file, "is missing"),
        (remove_the_first_range, "names a manifest before it, which is missing"),
        (remove_a_range, "the range before it ends at"),
        (rename_a_manifest, "is not named after its range"),
        (rewrite_an_event, "events: position 4 is not what was logged"),
    ],
)
def test_what_was_done_to_it_is_told(
    kept_history: str, tmp_path: Path, done: Callable[[Path], None], told: str
) -> None:
    exported(kept_history, tmp_path, most=30)
    assert verify_export(str(tmp_path), None).problems == []
    done(tmp_path)
    problems = verify_export(str(tmp_path), kept_history).problems
    assert [problem for problem in problems if told in problem], problems


@pytest.fixture
def command(history: str, tmp_path: Path) -> Callable[..., Result]:
    """`command("export", …)` on that ledger."""

    def run(*arguments: str) -> Result:
        env = {
            "LEDGER_DATABASE_URL": history,
            "LEDGER_DATA_DIR": str(tmp_path / "data"),
            "LEDGER_SECRET": "0123456789abcdef0123456789abcdef",
            "LEDGER_CONFIG": "",
        }
        return CliRunner().invoke(main, arguments, env=env)

    return run


def test_the_command_exports_goes_on_and_verifies(
    history: str, tmp_path: Path, command: Callable[..., Result]
) -> None:
    folder = str(tmp_path / "out")
    done = command("export", folder, "--format", "csv", "--table", "events", "--settle", "0")
    assert done.exit_code == 0, done.output
    with psycopg.connect(history) as connection:
        (end,) = connection.execute("SELECT max(position) FROM events").fetchone() or (0,)
    assert done.output.endswith(f"{end} rows added; complete up to position {end}\n")
    again = command("export", "--format=csv", "--table=events", "--settle=0", folder)
    assert again.output.endswith(f"0 rows added; complete up to position {end}\n")
    good = command("export", "verify", folder)
    assert f"the chain of {end} events, up to position {end}\nits hash: " in good.output
    other = command("export", folder, "--settle", "0")
    assert (other.exit_code, "Error: it has the format csv" in other.output) == (1, True)
    first(Path(folder), "events/*/*").unlink()
    bad = command("export", "verify", folder, "--offline")
    assert (bad.exit_code, "is missing" in bad.output) == (1, True)
    assert "there is no export in" in command("export", "verify", str(tmp_path / "no")).output


def test_signed_checkpoints_must_fit_the_events(
    history: str, tmp_path: Path, command: Callable[..., Result]
) -> None:
    key = Ed25519PrivateKey.generate()
    kept, folder = tmp_path / "checkpoints", tmp_path / "out"
    signed = sign_head(history, key)
    kept.write_text(signed.text() + "\n")
    asyncio.run(add_history(history, "more", 3))
    exported(history, folder)
    verify = ("export", "verify", str(folder), "--offline", "--against", str(kept))
    assert command(*verify).exit_code == 2
    assert command(*verify, "--public-key", public_key(key)).exit_code == 0
    wrong = signed.checkpoint._replace(hash=bytes(32))
    problems = verify_export(str(folder), None, [wrong]).problems
    assert problems == [f"events: position {signed.position} contradicts a checkpoint"]
