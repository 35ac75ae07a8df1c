"""The page of the facts has each type, and of each type every field that it takes."""

import re
from pathlib import Path

from api.contract.facts import FACT_DATA

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "facts.md"


def test_each_type_has_its_fields() -> None:
    told: dict[str, tuple[set[str], set[str]]] = {}
    for line in _PAGE.read_text(encoding="utf-8").splitlines():
        cells = line.split("|")
        if line.startswith("| `"):
            fields = re.sub(r"\(`[^)]*`\)", "", cells[2])
            optional = set(re.findall(r"`(\w+)`\?", fields))
            for kind in re.findall(r"`([\w.]+)`", cells[1]):
                told[kind] = set(re.findall(r"`(\w+)`", fields)), optional
    assert set(told) == set(FACT_DATA)
    for kind, (named, optional) in told.items():
        fields = {(f.alias or name): f for name, f in FACT_DATA[kind].model_fields.items()}
        del fields["metadata"]
        assert named == set(fields), kind
        either = {"customer_id", "email"} if kind == "invoice.observed" else set()
        mail = {"provider_message_id", "message_id", "send_token"}
        either |= mail if kind == "delivery" else set()
        required = {name for name, field in fields.items() if field.is_required()}
        assert named - optional - either == required - either, kind
