"""Test files that only compute run last, and the test processes keep to that."""

import tomllib
from pathlib import PurePath

import pytest

from tests.support.collection_order import LAST, place
from tests.support.service import ROOT


def test_files_that_only_compute_come_last(request: pytest.FixtureRequest) -> None:
    assert place(PurePath("tests/faults/queue/test_queue_replay.py")) == 0
    assert place(PurePath("tests/property/test_history.py")) == 1
    assert place(PurePath("tests/unit/domain/test_holds.py")) == len(LAST)
    assert all((ROOT / "tests" / folder).is_dir() for folder in LAST)
    places = [place(item.path.relative_to(ROOT)) for item in request.session.items]
    assert places == sorted(places)


def test_no_other_order_is_made_of_it() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert "--no-loadscope-reorder" in options["addopts"]
