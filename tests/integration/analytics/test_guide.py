"""Everything that the guide shows runs."""

import re
from pathlib import Path

import psycopg
import pytest

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guides" / "analytics.md"


def blocks(language: str) -> list[str]:
    """The blocks of the guide in that language."""
    text = GUIDE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def test_the_guide_has_examples() -> None:
    assert len(blocks("sql")) >= 4


@pytest.mark.parametrize("block", blocks("sql"))
def test_the_sql_of_the_guide_finds_something(kept_history: str, block: str) -> None:
    with psycopg.connect(kept_history, autocommit=True) as connection:
        for text in block.split(";"):
            if text.strip():
                assert connection.execute(text.encode()).fetchall() != []
