"""What is special about a kind of mail stands in the kind's own file: nothing else names a kind.

The HTTP schema of a kind's fields names it by its string, and so do the bodies that clients post.
"""

import ast
from collections.abc import Iterator

import pytest

from ledger.application.kinds import own_requests, registry
from ledger.application.kinds.registry import KINDS
from tests.architecture.test_clock import full_names, imported_names
from tests.architecture.tree import EVERYTHING, PACKAGES, Source, assert_kept, at, broken, sources

PACKAGE = registry.__name__.rpartition(".")[0]
CLASSES = {kind.__name__: kind.__module__ for kind in KINDS.values()}
WHO_NAME_KINDS = frozenset({registry.__name__, own_requests.__name__})
"""The registry, and what the ledger itself asks for: claims and the probes of a guard check."""
ALSO_OTHER_WORDS = frozenset({"message"})
"""A message of a thread is called so too."""
WITH_WORDS_OF_THEIR_OWN = (
    "api/contract/fields.py",
    "api/http/openapi_examples.py",
    "api/webhooks/providers/",
)
CHECKED = tuple(folder for folder in EVERYTHING if folder != "tests")


def names_a_kind(source: Source) -> Iterator[str]:
    """Every import or use of a kind's module, or of its class by way of another module."""
    module = source.path.removesuffix(".py").replace("/", ".")
    if module in WHO_NAME_KINDS:
        return
    meanings = imported_names(source.tree)
    for node in ast.walk(source.tree):
        for name in sorted(_meant(node, meanings)):
            kind = _kind_of(name)
            if kind is not None and CLASSES[kind] != module:
                assert isinstance(node, ast.expr | ast.stmt)
                yield at(source, node, f"{name}: only the file of {kind} says what it is")


def _meant(node: ast.AST, meanings: dict[str, set[str]]) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module:
        return {f"{node.module}.{alias.name}" for alias in node.names}
    return full_names(node, meanings) if isinstance(node, ast.Attribute) else set()


def _kind_of(name: str) -> str | None:
    """The class that a dotted name of the package leads to: by its module, or by itself."""
    for kind, module in CLASSES.items():
        by_itself = name.startswith(PACKAGE + ".") and name.endswith("." + kind)
        if by_itself or name == module or name.startswith(module + "."):
            return kind
    return None


def branches_on_a_kind(source: Source) -> Iterator[str]:
    """Every comparison with the name of a kind, and every collection of such names."""
    words = set(KINDS) - ALSO_OTHER_WORDS
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Compare):
            found = words & {w for part in (node.left, *node.comparators) for w in _strings(part)}
        elif isinstance(node, ast.MatchValue):
            found = words & set(_strings(node.value))
        elif isinstance(node, ast.Set | ast.Tuple | ast.List | ast.Dict):
            found = words & set(_strings(node))
            found = found if len(found) > 1 else set()
        else:
            continue
        if found:
            yield at(source, node.lineno, f"{sorted(found)}: let the kind's file tell")


def _strings(node: ast.expr) -> Iterator[str]:
    """A string, or the strings in a collection; of a dict its keys."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Set | ast.Tuple | ast.List):
        for part in node.elts:
            yield from _strings(part)
    elif isinstance(node, ast.Dict):
        for key in node.keys:
            if key is not None:
                yield from _strings(key)


@pytest.mark.parametrize(
    "text",
    [
        "from ledger.application.kinds.reminder import Reminder",
        "from ledger.application.kinds.reminder import Expected",
        "from ledger.application.kinds.registry import Digest",
        "from ledger.application.kinds import reply",
        "import ledger.application.kinds.apology",
        "from ledger.application.kinds import own_requests\nkind = own_requests.Notification",
        "def late():\n    from ledger.application.kinds.follow_up import FollowUp as Next",
    ],
)
def test_a_kind_that_is_named_elsewhere_is_found(text: str) -> None:
    assert len(broken(names_a_kind, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from ledger.application.kinds.registry import KINDS",
        "from ledger.application.kinds.kind import PermitSubject",
        "from ledger.application.kinds.own_requests import claim_of",
        "from eventsourcing.persistence import Notification",
        "class Digest:\n    pass",
    ],
)
def test_other_imports_are_left_alone(text: str) -> None:
    assert broken(names_a_kind, text) == []


def test_a_kind_may_name_itself_and_no_other() -> None:
    text = "from ledger.application.kinds.digest import Digest"
    path = "ledger/application/kinds/{}.py"
    assert broken(names_a_kind, text, path.format("digest")) == []
    assert broken(names_a_kind, text, path.format("registry")) == []
    assert len(broken(names_a_kind, text, path.format("notification"))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "lane = 1 if kind == 'reply' else 2",
        "lane = 1 if kind in ('apology',) else 2",
        "RECEIPTS = frozenset({'notification', 'digest'})",
        "LANES = {'reply': 1, 'apology': 2}",
        "match kind:\n    case 'payment_failed':\n        lane = 1",
    ],
)
def test_a_branch_on_a_kind_is_found(text: str) -> None:
    assert len(broken(branches_on_a_kind, text)) == 1


@pytest.mark.parametrize(
    "text",
    ["key = ('reply', message_id)", "found = name[0] == 'message'", "REPLY = 'reply'"],
)
def test_other_uses_of_the_words_are_left_alone(text: str) -> None:
    assert broken(branches_on_a_kind, text) == []


@pytest.mark.parametrize("folder", CHECKED)
def test_nothing_else_names_a_kind(folder: str) -> None:
    assert_kept(names_a_kind, sources(folder))


@pytest.mark.parametrize("folder", PACKAGES)
def test_nothing_branches_on_a_kind(folder: str) -> None:
    """Of the ways in too, the HTTP schema alone lists the kinds; providers have their own words."""
    looked_at = [s for s in sources(folder) if not s.path.startswith(WITH_WORDS_OF_THEIR_OWN)]
    assert_kept(branches_on_a_kind, looked_at)


def test_each_kind_has_its_own_module() -> None:
    assert len(set(CLASSES.values())) == len(KINDS)
