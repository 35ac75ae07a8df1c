"""The client and the contract of this repository: kinds, fields, codes, and the oldest Python."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from api.contract.outcomes import OutcomeRequest
from api.contract.permits import ClaimRequest, PermitRequest, RedeemRequest
from ledger.domain.next_steps import NEXT_STEPS
from ledger.domain.reasons import REASONS

import sendledger
from sendledger import kinds
from sendledger.calls import claim_call, redeem_call
from sendledger.client import AsyncLedger, Ledger
from sendledger.delivery import Delivered
from sendledger.errors import DUPLICATES
from sendledger.permit import Outcome

PACKAGE = Path(sendledger.__file__).parent
MODELS = {
    model.model_fields["kind"].annotation: model for model in get_args(get_args(PermitRequest)[0])
}
SCHEMAS = {get_args(kind)[0]: set(model.model_fields) for kind, model in MODELS.items()}
NOT_ASKED_FOR = {"kind", "redeem", "dry_run"}
"""The client redeems by a call of its own, which can be repeated where its answer is lost; and what
it asks for it sends, so it makes no dry runs."""


def parameters(kind: str) -> set[str]:
    """The fields that the client's function takes."""
    function = getattr(kinds, kind)
    own = {name for name in inspect.signature(function).parameters if name != "more"}
    more = inspect.signature(function).parameters["more"].annotation
    return (
        own
        | set(kinds.Common.__annotations__)
        | (set(kinds.Timely.__annotations__) if "Timely" in more else set())
    )


@pytest.mark.parametrize("kind", sorted(SCHEMAS))
def test_each_kind_takes_the_fields_of_the_contract(kind: str) -> None:
    assert parameters(kind) == SCHEMAS[kind] - NOT_ASKED_FOR
    with Ledger("http://ledger.test", "slk_test") as ledger:
        assert callable(getattr(ledger.permit, kind))


def test_other_calls_have_the_fields_of_the_contract() -> None:
    told = Outcome("sent", "why", Delivered("id", "smtp", "<m@x>")).body()
    OutcomeRequest.model_validate(told)
    assert set(told) == set(OutcomeRequest.model_fields) - {"correction", "metadata"}
    ClaimRequest.model_validate(claim_call(25, None, "k").body)
    RedeemRequest.model_validate(redeem_call("p", "a").body)


def test_a_duplicate_is_what_the_ledger_knows_to_have_gone_out() -> None:
    done = {code for code, step in NEXT_STEPS.items() if "went out already" in step.sentence}
    assert done < DUPLICATES <= set(REASONS)
    assert DUPLICATES - done == {"already_replied", "apology_already_sent"}


def test_both_clients_have_the_same_methods() -> None:
    def public(made: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(member).parameters)
            for name, member in inspect.getmembers(made, inspect.isfunction)
            if not name.startswith("_")
        }

    assert public(Ledger) == public(AsyncLedger)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_every_file_is_python_3_9(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 9))
    newer = [n for n in ast.walk(tree) if isinstance(n, (ast.Match, ast.TryStar))]
    assert newer == []
    unions = [n for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.BitOr)]
    assert not unions or "from __future__ import annotations" in text


def test_only_httpx_is_needed() -> None:
    allowed = {"httpx", "sendledger"}
    optional = {"telemetry.py"}
    for path in sorted(PACKAGE.glob("*.py")):
        if path.name in optional:
            continue
        assert _third_parties(path) <= allowed, path.name


def _third_parties(path: Path) -> set[str]:
    found: set[str] = set()
    for node in _runtime_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names)


def _runtime_nodes(tree: ast.AST) -> list[ast.AST]:
    """Every node but those that only a type checker sees."""
    found: list[ast.AST] = []
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        found.append(node)
        waiting.extend(ast.iter_child_nodes(node))
    return found
