"""The distributions as they would be published: built from a copy of the sources, then installed.

The source distribution is built first and the wheel from that, so that both must be complete.
Nothing is fetched: setuptools is in the environment of the tests.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_BUILD = "import sys, setuptools.build_meta as b; print(b.build_{}(sys.argv[1]))"
_LEFT_BEHIND = shutil.ignore_patterns(
    ".*", "__pycache__", "*.egg-info", "build", "dist", "tests", "bench", "docs", "clients"
)


@dataclass(frozen=True)
class Installed:
    """A distribution's two files, and the folder that its wheel was installed into."""

    sdist: Path
    wheel: Path
    site: Path

    def run(self, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a program with this installation in front of all else, and no sources in reach."""
        return subprocess.run(
            command,
            cwd=self.site.parent,
            env=dict(os.environ) | {"PYTHONPATH": str(self.site)} | env,
            capture_output=True,
            text=True,
            timeout=60,
        )


def build_and_install(project: Path, folder: Path) -> Installed:
    """Build a project from a copy, and install its wheel alone into a folder of its own."""
    shutil.copytree(project, folder / "copy", ignore=_LEFT_BEHIND)
    sdist = _built("sdist", folder / "copy", folder)
    with tarfile.open(sdist) as packed:
        packed.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    wheel = _built("wheel", unpacked, folder)
    site = folder / "site"
    alone = ("--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check", "--quiet")
    install = (sys.executable, "-m", "pip", "install", *alone, "--target", site, wheel)
    _run([str(word) for word in install], folder)
    return Installed(sdist, wheel, site)


def _built(kind: str, source: Path, target: Path) -> Path:
    said = _run([sys.executable, "-c", _BUILD.format(kind), str(target)], source)
    return target / said.splitlines()[-1]


def _run(command: list[str], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="session")
def ledger_distribution(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The service and its command line."""
    return build_and_install(ROOT, tmp_path_factory.mktemp("ledger"))


@pytest.fixture(scope="session")
def client_distribution(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The Python client."""
    return build_and_install(ROOT / "clients" / "python", tmp_path_factory.mktemp("client"))
