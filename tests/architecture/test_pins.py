"""What is installed is pinned: exact versions of everything, from whatever registry is set up."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.tree import ROOT, Source, assert_kept, at, broken

PLACES = re.compile(r"\w+://|git\+|--(?:extra-)?index-url|--find-links|--hash|@ ")
PIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*==[0-9][\w.!+]*(?:; \S.*)?")
NOT_PINNED = frozenset({"send-ledger"})


def project_file(name: str) -> Source:
    """A file at the root of the project."""
    return Source(name, (ROOT / name).read_text(encoding="utf-8"))


def names_a_place(source: Source) -> Iterator[str]:
    """Every address: where packages come from is for the installing machine to say."""
    for line, text in enumerate(source.text.splitlines(), start=1):
        if found := PLACES.search(text):
            yield at(source, line, f"{found[0]!r} ties the install to one place or file")


def is_no_exact_pin(source: Source) -> Iterator[str]:
    """Every line that is neither a comment nor name==version, and names out of order."""
    pins = [
        (line, text)
        for line, text in enumerate(source.text.splitlines(), start=1)
        if not text.startswith("#")
    ]
    for line, text in pins:
        if not PIN.fullmatch(text):
            yield at(source, line, f"{text!r} is not name==version with an optional marker")
    names = [text.partition("==")[0] for _, text in pins]
    for (line, text), name, before in zip(pins[1:], names[1:], names, strict=False):
        if name < before:
            yield at(source, line, f"{text!r} is out of order")


def closure(roots: Iterable[Requirement]) -> set[str]:
    """Names of all that the requirements bring on this Python, as far as it is installed."""
    reached: set[tuple[str, str]] = set()
    waiting = [(root, "") for root in roots]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for wanted in {"", *requirement.extras} - {one for dist, one in reached if dist == name}:
            reached.add((name, wanted))
            waiting += [(inner, wanted) for inner in requirements_of(name)]
    return {name for name, _ in reached}


def requirements_of(name: str) -> list[Requirement]:
    """What an installed distribution asks for; nothing for one that is not installed."""
    try:
        return [Requirement(text) for text in requires(name) or []]
    except PackageNotFoundError:
        return []


def unpinned(roots: Iterable[Requirement], constraints: str) -> list[str]:
    """Names of all that the requirements bring and the constraints leave open."""
    pinned = {line.partition("==")[0] for line in constraints.splitlines()}
    return sorted(closure(roots) - pinned - NOT_PINNED)


@pytest.mark.parametrize(
    "text",
    [
        "-i https" + "://registry.example/simple",
        "--index" + "-url x",
        "--extra-index" + "-url x",
        "--find-links wheels",
        "rich @ file" + ":///wheels/rich.whl",
        "rich==1 --hash=sha256:00",
        "git" + "+ssh:x",
    ],
)
def test_an_address_is_found(text: str) -> None:
    assert len(broken(names_a_place, text, "constraints.txt")) == 1


@pytest.mark.parametrize(
    "text",
    ["rich>=15", "rich", "rich==15.*", "Rich==15.0.0", "a_b==1", "rich==15 ; x", "b==1\na==1"],
)
def test_a_loose_pin_is_found(text: str) -> None:
    assert len(broken(is_no_exact_pin, text, "constraints.txt")) == 1


def test_exact_pins_pass() -> None:
    text = '# why\na-b==1.0.post1\nrich==15.0.0; python_version < "3.12"'
    assert broken(is_no_exact_pin, text, "constraints.txt") == []


def test_what_a_pinned_package_brings_must_be_pinned_too() -> None:
    roots = [Requirement("pytest"), Requirement("gone; python_version < '3'")]
    everything = unpinned(roots, "")
    assert {"pytest", "pluggy", "iniconfig"} <= set(everything)
    assert "gone" not in everything
    pins = "".join(f"{name}==1\n" for name in everything if name != "pluggy")
    assert unpinned(roots, pins) == ["pluggy"]


def test_extras_are_followed() -> None:
    assert "psycopg-binary" in closure([Requirement("psycopg[binary]")])
    assert "psycopg-binary" not in closure([Requirement("psycopg")])


def test_no_file_names_a_registry() -> None:
    assert_kept(names_a_place, [project_file("constraints.txt"), project_file("pyproject.toml")])


def test_every_constraint_is_an_exact_pin() -> None:
    assert_kept(is_no_exact_pin, [project_file("constraints.txt")])


def test_everything_installed_is_pinned() -> None:
    project = tomllib.loads(project_file("pyproject.toml").text)["project"]
    texts = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    roots = [Requirement(text) for text in texts]
    assert unpinned(roots, project_file("constraints.txt").text) == []
