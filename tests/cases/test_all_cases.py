"""Every case of both lists is a test that carries its id."""

import ast
from pathlib import Path

import pytest
import yaml

_HERE = Path(__file__).parent
_LISTS = {"cases.yaml": 22, "cases-2.yaml": 31}
"""The lists of cases, and how many each has."""
_ELSEWHERE = {
    "restored-snapshot": (
        "tests/api/test_recovery.py",
        "test_a_restored_snapshot_mails_nobody_again",
    ),
    "one-payment-two-ways": (
        "tests/api/webhooks/test_money_bodies.py",
        "test_one_payment_told_two_ways_in_a_second",
    ),
}
"""Cases that need more than a clock: a database that is restored, signed bodies of a provider."""


def _tests_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", _LISTS)
def test_every_case_has_its_test(name: str) -> None:
    cases = yaml.safe_load((_HERE / name).read_text(encoding="utf-8"))
    named = {name for path in _HERE.glob("test_*.py") for name in _tests_in(path)}
    for case in cases:
        path, test = _ELSEWHERE.get(case["id"], ("", f"test_{case['id'].replace('-', '_')}"))
        found = _tests_in(_HERE.parents[1] / path) if path else named
        assert test in found, f"case {case['id']} has no test"
    assert len({case["id"] for case in cases}) == len(cases) == _LISTS[name]
