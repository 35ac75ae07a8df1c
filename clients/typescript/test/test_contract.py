"""The TypeScript client and the contract: the same kinds, codes and actions as the service has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from sendledger.errors import DUPLICATES

from api.contract.permits import PermitRequest
from ledger.domain.next_steps import NEXT_STEPS

SOURCES = Path(__file__).parents[1] / "src"


def texts(file: str, opening: str, closing: str) -> list[str]:
    """The quoted texts of a piece of a source file."""
    source = (SOURCES / file).read_text(encoding="utf-8")
    return re.findall(r'"(\w+)"', source.partition(opening)[2].partition(closing)[0])


def test_a_duplicate_is_what_it_is_to_the_python_client() -> None:
    assert set(texts("errors.ts", "DUPLICATES", "]);")) == DUPLICATES


def test_every_next_action_is_known() -> None:
    actions = {step.action.value for step in NEXT_STEPS.values()}
    assert actions <= set(texts("errors.ts", "type NextAction =", ";"))


def test_there_is_a_function_and_a_method_for_each_kind() -> None:
    models = get_args(get_args(PermitRequest)[0])
    kinds = {get_args(model.model_fields["kind"].annotation)[0] for model in models}
    asked = re.findall(r'kind: "(\w+)", fields', (SOURCES / "kinds.ts").read_text("utf-8"))
    assert sorted(asked) == sorted(kinds)
    methods = re.findall(r"(\w+): opening\(kinds\.\1\)", (SOURCES / "ledger.ts").read_text("utf-8"))
    functions = re.findall(r"export const (\w+) = ", (SOURCES / "kinds.ts").read_text("utf-8"))
    assert sorted(methods) == sorted(functions)
    assert len(functions) == len(kinds)
