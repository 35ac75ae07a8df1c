"""The changelog has the form that it names, and the project's version has its place in it."""

import re
import tomllib
from pathlib import Path

from packaging.version import Version

_ROOT = Path(__file__).resolve().parents[2]
_HEADINGS = re.findall(r"^## (.+)$", (_ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
_RELEASE = re.compile(r"\[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}")


def released() -> list[Version]:
    """The versions of all releases, the newest first."""
    found = [_RELEASE.fullmatch(heading) for heading in _HEADINGS[1:]]
    assert all(found), _HEADINGS
    return [Version(one[1]) for one in found if one is not None]


def test_what_is_not_released_comes_first_then_releases_from_new_to_old() -> None:
    assert _HEADINGS[0] == "[Unreleased]"
    assert released() == sorted(set(released()), reverse=True)


def test_the_projects_version_is_the_latest_release_or_the_one_to_come() -> None:
    with (_ROOT / "pyproject.toml").open("rb") as file:
        version = Version(tomllib.load(file)["project"]["version"])
    assert version >= max(released(), default=Version("0"))


def test_the_version_is_said_in_one_place() -> None:
    """Whatever else shows it asks the installed distribution."""
    with (_ROOT / "pyproject.toml").open("rb") as file:
        version = tomllib.load(file)["project"]["version"]
    said = re.compile(rf"send-ledger[:=@ ]+v?{re.escape(version)}\b")
    files = [_ROOT / "docker-compose.yml", _ROOT / "Dockerfile", _ROOT / "README.md"]
    files += [*(_ROOT / "docs").rglob("*.md"), *(_ROOT / "deploy").rglob("*.*")]
    for package in ("ledger", "projections", "api"):
        files += (_ROOT / package).rglob("*.py")
    assert [path for path in files if said.search(path.read_text(encoding="utf-8"))] == []
