"""Everything that the guide shows runs."""

import asyncio
import re
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from tests.integration.analytics.conftest import add_history
from tests.integration.analytics.exported import exported

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


def one_block(language: str, folder: Path) -> str:
    """The only block of that language, on the folder of the test."""
    (text,) = blocks(language)
    return text.replace("/data/ledger", str(folder))


def answers(connection: duckdb.DuckDBPyConnection, text: str) -> list[list[Any]]:
    """What each statement of the block gives."""
    parts = [part for part in text.split(";") if part.strip()]
    return [connection.execute(part).fetchall() for part in parts]


def of_view(database: str, text: str) -> list[Any]:
    """What the view says of the same."""
    with psycopg.connect(database) as connection:
        return connection.execute(text.encode()).fetchall()


def test_duckdb_finds_in_an_export_what_the_views_have(kept_history: str, tmp_path: Path) -> None:
    exported(kept_history, tmp_path, most=20)
    with duckdb.connect() as connection:
        _, sends, prevented, stages = answers(connection, one_block("duckdb", tmp_path))
    assert sends == of_view(
        kept_history,
        "SELECT sender, state, count(*) FROM analytics.sends GROUP BY 1, 2 ORDER BY 1, 2",
    )
    assert [code for _, code, _ in prevented] == ["already_sent"]
    assert stages == of_view(
        kept_history,
        "SELECT stage, state, count(*) FROM analytics.stages GROUP BY 1, 2 ORDER BY 1, 2",
    )


def test_polars_counts_the_mails_by_hour(kept_history: str, tmp_path: Path) -> None:
    exported(kept_history, tmp_path, most=20)
    found: dict[str, Any] = {}
    exec(one_block("python", tmp_path), found)
    assert found["by_hour"].rows() == of_view(
        kept_history,
        "SELECT extract(hour FROM counts_at AT TIME ZONE 'UTC')::int, count(*) FROM analytics.sends"
        " WHERE counts_at IS NOT NULL GROUP BY 1 ORDER BY 1",
    )


def test_an_incremental_model_takes_in_what_is_new(history: str, tmp_path: Path) -> None:
    wanted = (
        "SELECT status, count(*), sum(balance_minor_units) FROM analytics.invoices"
        " GROUP BY 1 ORDER BY 1"
    )
    with duckdb.connect() as connection:
        for prefix in ("more", "still-more"):
            exported(history, tmp_path)
            assert answers(connection, one_block("dbt", tmp_path))[-1] == of_view(history, wanted)
            asyncio.run(add_history(history, prefix, 3))
