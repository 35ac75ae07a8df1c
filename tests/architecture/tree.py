"""The project's own files, as the architecture tests read them."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("ledger", "projections", "api")
EVERYTHING = (*PACKAGES, "clients", "tests", "bench")


@dataclass(frozen=True)
class Source:
    """One text file: its path below the root of the project, with slashes, and what it says."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; raises SyntaxError where the text is not Python."""
        return ast.parse(self.text, self.path)


Rule = Callable[[Source], Iterator[str]]


def sources(folder: str, suffix: str = ".py") -> list[Source]:
    """Every file with that suffix below the folder, by path.

    A folder that is missing or holds no such file is an error: a rule that looks at nothing
    would pass without having checked anything.
    """
    found = sorted((ROOT / folder).rglob(f"*{suffix}"))
    paths = [path for path in found if "node_modules" not in path.parts]
    assert paths, f"{folder}/ holds no {suffix} file to check"
    return [
        Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in paths
    ]


def broken(rule: Rule, text: str, path: str = "ledger/sample.py") -> list[str]:
    """What the rule says of a sample, taken as a file at that path."""
    return list(rule(Source(path, text)))


def assert_kept(rule: Rule, checked: Iterable[Source]) -> None:
    """Fails with one line for each breach of the rule."""
    breaches = [breach for source in checked for breach in rule(source)]
    assert not breaches, "\n" + "\n".join(breaches)


def at(source: Source, node: ast.expr | ast.stmt | int, what: str) -> str:
    """A breach as editors and terminals link it: path, line, what is wrong."""
    line = node if isinstance(node, int) else node.lineno
    return f"{source.path}:{line}: {what}"


def is_bare_string(node: ast.AST) -> TypeGuard[ast.Expr]:
    """True for a statement that is only a string: a docstring of anything."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
