"""Wheels and source distributions are complete: what they install runs without the sources."""

import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.conftest import ROOT, Installed

_CLIENT = ROOT / "clients" / "python"


def version_of(project: Path) -> str:
    """The one place that says a project's version."""
    with (project / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def files_of(root: Path, *packages: str) -> set[str]:
    """Every file of these packages, code and data, below the root."""
    found = {
        path.relative_to(root).as_posix()
        for package in packages
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert found
    return found


def packed(installed: Installed) -> set[str]:
    """The files of a wheel, without those that say what is in it."""
    return {name for name in ZipFile(installed.wheel).namelist() if ".dist-info/" not in name}


def test_the_wheel_has_every_file_of_the_packages_and_no_other(
    ledger_distribution: Installed,
) -> None:
    wanted = files_of(ROOT, "ledger", "projections", "api")
    assert packed(ledger_distribution) == wanted
    assert {Path(name).suffix for name in wanted} >= {".py", ".sql", ".html", ".md", ".json"}


def test_the_clients_wheel_has_every_file_of_the_package_and_no_other(
    client_distribution: Installed,
) -> None:
    wanted = files_of(_CLIENT, "sendledger")
    assert packed(client_distribution) == wanted
    assert "sendledger/py.typed" in wanted


@pytest.mark.parametrize(
    ("fixture", "project"), [("ledger_distribution", ROOT), ("client_distribution", _CLIENT)]
)
def test_files_are_named_by_the_version_and_carry_the_licence(
    request: pytest.FixtureRequest, fixture: str, project: Path
) -> None:
    installed: Installed = request.getfixturevalue(fixture)
    version = version_of(project)
    assert installed.sdist.name.endswith(f"-{version}.tar.gz")
    assert f"-{version}-" in installed.wheel.name
    (folder,) = installed.site.glob("*.dist-info")
    assert (folder / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_installed_command_says_its_version_and_its_commands(
    ledger_distribution: Installed,
) -> None:
    command = str(ledger_distribution.site / "bin" / "send-ledger")
    said = ledger_distribution.run(command, "--version")
    assert (said.returncode, said.stdout) == (0, f"send-ledger, version {version_of(ROOT)}\n")
    told = ledger_distribution.run(command, "--help")
    assert told.returncode == 0, told.stderr
    assert "Bring the database to this version." in told.stdout


def test_the_installed_program_sets_a_database_up(
    ledger_distribution: Installed, empty_database: str
) -> None:
    """It needs every migration and the read models' SQL, from the wheel alone."""
    where = ledger_distribution.run(sys.executable, "-c", "import api; print(api.__file__)")
    assert Path(where.stdout.strip()).is_relative_to(ledger_distribution.site)
    done = ledger_distribution.run(
        str(ledger_distribution.site / "bin" / "send-ledger"),
        "migrate",
        LEDGER_DATABASE_URL=empty_database,
        LEDGER_SECRET="the secret of an installed program",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "the database is up to date"


def test_the_installed_client_is_imported(client_distribution: Installed) -> None:
    code = "import sendledger; print(sendledger.__file__, sendledger.Ledger.__name__)"
    said = client_distribution.run(sys.executable, "-c", code).stdout.split()
    assert Path(said[0]).is_relative_to(client_distribution.site)
    assert said[1] == "Ledger"
