"""Values are immutable: the type checker, which CI runs over all code, refuses to change one."""

from pathlib import Path

import pytest
from mypy import api as mypy

from tests.architecture.tree import ROOT

_MADE = "from ledger.domain.permit import Copy\nmade = Copy('fingerprint', 'cus_1')\n"


@pytest.mark.parametrize(
    ("line", "refused"),
    [("made.customer_id = 'cus_2'", True), ("print(made.customer_id)", False)],
)
def test_a_value_cannot_be_changed(
    line: str, refused: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    snippet = tmp_path / "changes_a_value.py"
    snippet.write_text(_MADE + line + "\n", encoding="utf-8")
    said, _, status = mypy.run(["--strict", str(snippet)])
    assert (status == 1, "read-only" in said) == (refused, refused), said
