"""The glossary has each word once, in order, and uses no word that it advises against."""

from tests.architecture.tree import ROOT


def _rows() -> list[tuple[str, str, str]]:
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    table = [line.strip("|").split("|") for line in lines if line.startswith("|")][2:]
    return [(word.strip(), meaning.strip(), other.strip()) for word, meaning, other in table]


def test_each_word_is_there_once_and_in_order() -> None:
    words = [word.strip("`").lower() for word, _, _ in _rows()]
    assert len(words) > 80
    assert words == sorted(set(words))


def test_each_word_has_a_meaning() -> None:
    assert [word for word, meaning, _ in _rows() if len(meaning) < 10] == []


def test_no_word_is_turned_away_and_used_all_the_same() -> None:
    words = {word for word, _, _ in _rows()}
    lists = [others.split(",") for _, _, others in _rows() if "(" not in others]
    turned_away = {other.strip() for others in lists for other in others}
    assert words & turned_away == set()
