"""The page of the alerts tells of each kind that the program raises, and of no other."""

import ast
import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def _raised() -> set[str]:
    """The first argument of every `Alert(…)` in the sources."""
    kinds = set()
    for package in ("ledger", "projections", "api"):
        for path in (_ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Alert":
                    [kind] = [a.value for a in node.args[:1] if isinstance(a, ast.Constant)]
                    kinds.add(kind)
    return kinds


def test_each_kind_of_alert_has_its_row() -> None:
    page = (_ROOT / "docs" / "guides" / "alerts.md").read_text(encoding="utf-8")
    table = page.partition("| kind |")[2].partition("\n\n")[0]
    told = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert len(told) >= 12
    assert sorted(told) == sorted(_raised())
