"""Everything public in the product says what it means.

Public is what another file may use by name: functions, classes, and what stands in them, unless
the name begins with an underscore. Not asked of overrides and overloads (the base says it),
property setters (the getter says it), an event's apply (the event says it), and functions inside
functions.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.tree import PACKAGES, Source, assert_kept, at, broken, sources

SAID_ELSEWHERE = frozenset({"override", "overload", "setter", "deleter"})
EVENT_HOOK = "apply"


def is_undocumented(source: Source) -> Iterator[str]:
    """Every public function, class and method without a docstring."""
    for name, node in public(source.tree):
        if not (ast.get_docstring(node) or "").strip():
            yield at(source, node, f"{name} needs a docstring that says what it means")


def public(
    owner: ast.AST, prefix: str = ""
) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Public definitions in a module or class with their dotted names, branches included."""
    for node in ast.iter_child_nodes(owner):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            hook = prefix and node.name == EVENT_HOOK
            if node.name.startswith("_") or hook or said_elsewhere(node):
                continue
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from public(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.If | ast.Try | ast.ExceptHandler | ast.With):
            yield from public(node, prefix)


def said_elsewhere(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """True where a decorator says that another definition carries the docstring."""
    return any(
        ast.unparse(decorator).split(".")[-1] in SAID_ELSEWHERE for decorator in node.decorator_list
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def grant(): pass", "grant"),
        ("async def grant(): pass", "grant"),
        ("class Permit: pass", "Permit"),
        ("class Permit:\n    'Said.'\n    def lapse(self): pass", "Permit.lapse"),
        ("class Permit:\n    'Said.'\n    class Lapsed: pass", "Permit.Lapsed"),
        ("class Permit:\n    'Said.'\n    @property\n    def state(self): pass", "Permit.state"),
        ("if True:\n    def grant(): pass", "grant"),
        ("def grant():\n    '  '", "grant"),
        ("@retry.once\ndef grant(): pass", "grant"),
        ("def apply(): pass", "apply"),
    ],
)
def test_a_missing_docstring_is_found(text: str, name: str) -> None:
    (breach,) = broken(is_undocumented, text)
    assert breach.split(": ")[1].startswith(f"{name} needs a docstring")


@pytest.mark.parametrize(
    "text",
    [
        "def grant():\n    'Grants.'",
        "def _grant(): pass",
        "class _Permit:\n    def lapse(self): pass",
        "class Permit:\n    'Said.'\n    def __init__(self): pass",
        "class Permit:\n    'Said.'\n    def apply(self): pass",
        "class Permit:\n    'Said.'\n    @override\n    def lapse(self): pass",
        "class Permit:\n    'Said.'\n    @typing.override\n    def lapse(self): pass",
        "class Permit:\n    'Said.'\n    @state.setter\n    def state(self, value): pass",
        "@overload\ndef grant(): ...",
        "def grant():\n    'Grants.'\n    def inner(): pass",
    ],
)
def test_what_is_private_or_said_elsewhere_is_left_alone(text: str) -> None:
    assert broken(is_undocumented, text) == []


@pytest.mark.parametrize("folder", [*PACKAGES, "clients/python/sendledger"])
def test_everything_public_is_documented(folder: str) -> None:
    assert_kept(is_undocumented, sources(folder))
