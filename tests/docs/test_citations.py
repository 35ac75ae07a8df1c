"""What code, tests and pages cite is in the repository: decisions, sections, ADRs, pages."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.tree import EVERYTHING, ROOT, Rule, Source, assert_kept, at, broken

_SUFFIXES = frozenset({".py", ".sql", ".md", ".toml", ".yaml", ".yml", ".html"})
_DATA = ROOT / "tests" / "payloads"
_DECISION = re.compile(r"\bD(\d{1,2})\b")
_ADR = re.compile(r"\bADR (\d{4})\b|\badr/(\d{4}-[\w-]+\.md)")
_SECTION = re.compile(r"\((?:[^()]*, )?(contract|design)[:,] ([^()]+)\)")
"""Such as "(contract: People)" or "(design, known traps)"; several are separated by commas."""
_PAGE = re.compile(r"\b[\w-]+\.md\b")
_CITED_PAGES = {"contract": "docs/http.md", "design": "docs/design.md"}


@cache
def _headings(page: str) -> tuple[str, ...]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return tuple(re.findall(r"^#+ (.+)$", text, re.MULTILINE))


@cache
def _decisions() -> frozenset[str]:
    return frozenset(h.split()[0] for h in _headings("docs/design.md") if _DECISION.match(h))


@cache
def _files() -> tuple[Source, ...]:
    """Every text file of the project but the bodies of providers, which are data.

    Nor what npm installed for the TypeScript client's tests, which is not the project's.
    """
    folders = [ROOT / name for name in (*EVERYTHING, "docs")]
    paths = [path for folder in folders for path in folder.rglob("*")]
    paths += [path for path in ROOT.iterdir() if path.is_file()]
    kept = [
        path
        for path in paths
        if (path.suffix in _SUFFIXES or path.name == "Makefile")
        and not path.is_relative_to(_DATA)
        and "node_modules" not in path.parts
    ]
    assert len(kept) > 200
    return tuple(
        Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(kept)
    )


@cache
def _pages() -> frozenset[str]:
    written = {Path(source.path).name for source in _files() if source.path.endswith(".md")}
    return frozenset(written | {"README.md"})


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    yield from enumerate(source.text.splitlines(), start=1)


def cites_no_decision(source: Source) -> Iterator[str]:
    """A "D<n>" without a heading of that number in docs/design.md."""
    for line, text in _lines(source):
        for number in _DECISION.findall(text):
            if f"D{number}" not in _decisions():
                yield at(source, line, f"docs/design.md has no decision D{number}")


def cites_no_adr(source: Source) -> Iterator[str]:
    """An ADR that is not in docs/adr."""
    names = [path.name for path in (ROOT / "docs" / "adr").glob("*.md")]
    for line, text in _lines(source):
        for number, name in _ADR.findall(text):
            if not any(n == name if name else n.startswith(f"{number}-") for n in names):
                yield at(source, line, f"docs/adr has no {name or number}")


def cites_no_section(source: Source) -> Iterator[str]:
    """A section of the contract or of the design page that has no heading with these words."""
    for line, text in _lines(source):
        for page, cited in _SECTION.findall(text):
            for part in re.split(r", | and ", cited):
                words = part.strip().removeprefix("design ")
                if _DECISION.fullmatch(words):
                    continue
                there = _headings(_CITED_PAGES[page])
                if not any(_names(heading, words) for heading in there):
                    yield at(source, line, f"{_CITED_PAGES[page]} has no section {words!r}")


def _names(heading: str, words: str) -> bool:
    """Are the words in the heading, as whole words and in any case?"""
    return bool(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", heading, re.IGNORECASE))


def cites_no_page(source: Source) -> Iterator[str]:
    """A Markdown page that is nowhere in the repository."""
    for line, text in _lines(source):
        for name in _PAGE.findall(text):
            if name not in _pages():
                yield at(source, line, f"there is no page {name}")


_RULES = (cites_no_decision, cites_no_adr, cites_no_section, cites_no_page)


# The samples are put together here, so that this file cites nothing that is missing.
@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (cites_no_decision, '"""How it lapses (design {})."""'.format("D" + "99")),
        (cites_no_decision, "# As {} says.".format("D" + "0")),
        (cites_no_adr, "# What it costs: {}.".format("ADR " + "9999")),
        (cites_no_adr, "[why](docs/adr/0001-{})".format("nothing" + ".md")),
        (cites_no_section, '"""Who may ask ({}: Astrology)."""'.format("contract")),
        (cites_no_section, "# By rule ({}, unknown traps).".format("design")),
        (cites_no_section, '"""Two ({}: People, Peoples)."""'.format("contract")),
        (cites_no_page, "# Codes are those of {}.".format("nowhere" + ".md")),
    ],
)
def test_a_missing_source_is_found(rule: Rule, text: str) -> None:
    assert len(broken(rule, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "(design D6)",
        "(design D8, D13)",
        "(contract: People, design D11)",
        "(contract: due, due/claim)",
        "(contract: `?after=`)",
        "(contract, Rules for every call)",
        "(design, known traps)",
        "import contracts, by contract (contract)",
        "ADR 0002, docs/adr/0002-the-hot-path.md",
    ],
)
def test_what_is_there_is_left_alone(text: str) -> None:
    assert [breach for rule in _RULES for breach in broken(rule, text)] == []


@pytest.mark.parametrize("rule", _RULES, ids=lambda rule: rule.__name__)
def test_everything_cited_is_in_the_repository(rule: Rule) -> None:
    assert_kept(rule, _files())


def test_every_decision_has_an_anchor_of_its_own() -> None:
    numbers = [h.split()[0] for h in _headings("docs/design.md") if _DECISION.match(h)]
    assert numbers == [f"D{n}" for n in range(1, 24)]
