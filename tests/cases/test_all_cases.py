"""Every case of cases.yaml is a test that carries its id."""

import ast
from pathlib import Path

import yaml

_HERE = Path(__file__).parent
_ELSEWHERE = {
    "restored-snapshot": (
        "tests/api/test_recovery.py",
        "test_a_restored_snapshot_mails_nobody_again",
    )
}
"""Cases that need more than a clock: a database that is restored."""


def _tests_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_case_has_its_test() -> None:
    cases = yaml.safe_load((_HERE / "cases.yaml").read_text(encoding="utf-8"))
    named = {name for path in _HERE.glob("test_*.py") for name in _tests_in(path)}
    for case in cases:
        path, test = _ELSEWHERE.get(case["id"], ("", f"test_{case['id'].replace('-', '_')}"))
        found = _tests_in(_HERE.parents[1] / path) if path else named
        assert test in found, f"case {case['id']} has no test"
    assert len(cases) == 22
