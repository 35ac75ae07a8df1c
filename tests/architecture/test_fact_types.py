"""What is special about a type of fact stands in its file: nobody else asks which type it is."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.contract.facts import FACT_DATA
from api.contract.translation import FACT_READERS
from ledger.application.facts.registry import FACT_TYPES
from tests.architecture.tree import PACKAGES, ROOT, Source, assert_kept, at, broken, sources

HOMES = {
    data.__name__: Path(inspect.getfile(data)).relative_to(ROOT).as_posix() for data in FACT_TYPES
}
"""The name of each data class, and the file that it stands in."""
BY_TYPE = frozenset({"isinstance", "issubclass"})


def asks_for_a_fact_type(source: Source) -> Iterator[str]:
    """An isinstance, a match, a comparison or a table by the data class of another file's fact."""
    for node in ast.walk(source.tree):
        for asked in asked_types(node):
            for named in ast.walk(asked):
                name = name_of(named)
                if HOMES.get(name, source.path) != source.path:
                    yield at(source, asked, f"ask {HOMES[name]} for it, not for the type {name}")


def asked_types(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a node that a type is compared with."""
    if isinstance(node, ast.Call) and name_of(node.func) in BY_TYPE:
        yield from node.args[1:]
    elif isinstance(node, ast.MatchClass):
        yield node.cls
    elif isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)


def name_of(node: ast.AST) -> str:
    """The last part of a name, empty if the node is none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(data, Delivery)",
        "isinstance(data, CustomerObserved | int)",
        "isinstance(data, (str, invoice_credit.Credited))",
        "issubclass(kind, SendObserved)",
        "match data:\n    case PaymentMoved(amount=0):\n        pass",
        "type(data) is RefundReported",
        "type(data) in (int, ThreadMessage)",
        "{CustomersMerged: 1}",
    ],
)
def test_a_question_for_a_type_is_found(text: str) -> None:
    assert len(broken(asks_for_a_fact_type, text)) == 1


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("isinstance(data, Delivery)", "ledger/application/facts/delivery.py"),
        ("isinstance(data, FactData | Fact)", "ledger/sample.py"),
        ("Fact(Delivery('ses', 'bounced'))", "ledger/sample.py"),
        ("FACT_TYPES[type(fact.data)].load(walk, fact.data)", "ledger/sample.py"),
        ("def read() -> Delivery: ...", "ledger/sample.py"),
    ],
)
def test_other_uses_are_left_alone(text: str, path: str) -> None:
    assert broken(asks_for_a_fact_type, text, path) == []


@pytest.mark.parametrize("folder", [*PACKAGES, "bench"])
def test_nobody_else_asks_for_the_type_of_a_fact(folder: str) -> None:
    assert_kept(asks_for_a_fact_type, sources(folder))


def test_each_type_has_a_file_of_its_own_and_a_line_in_the_registry() -> None:
    homes = [inspect.getfile(type(type_)) for type_ in FACT_TYPES.values()]
    assert homes == [inspect.getfile(data) for data in FACT_TYPES]
    defining = [
        str(ROOT / source.path)
        for source in sources("ledger/application/facts")
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and any("FactType[" in ast.unparse(b) for b in node.bases)
    ]
    assert sorted(homes) == sorted(set(defining)) == sorted(defining)


def test_each_type_of_cloud_event_is_read() -> None:
    assert list(FACT_READERS) == list(FACT_DATA)
