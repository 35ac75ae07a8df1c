"""The order of the test folders has a place for each of them, and the test processes keep to it."""

import tomllib
from pathlib import PurePath

import pytest

from tests.support.collection_order import FOLDERS, place
from tests.support.preloaded import ROOT


def test_every_folder_with_tests_has_its_place() -> None:
    found = {path.relative_to(ROOT).parts[1] for path in ROOT.glob("tests/*/**/test_*.py")}
    assert {*found, "clients"} == set(FOLDERS)


def test_files_that_wait_come_before_those_that_compute(request: pytest.FixtureRequest) -> None:
    assert place(PurePath("tests/faults/queue/test_queue_replay.py")) == 0
    assert place(PurePath("clients/python/tests/test_spool.py")) == FOLDERS.index("clients")
    assert place(PurePath("tests/unit/domain/test_holds.py")) == len(FOLDERS) - 1
    places = [place(item.path.relative_to(ROOT)) for item in request.session.items]
    assert places == sorted(places)


def test_no_other_order_is_made_of_it() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert "--no-loadscope-reorder" in options["addopts"]
