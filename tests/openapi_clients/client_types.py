"""Makes the types of the TypeScript client from the OpenAPI document, or checks them.

    python -m tests.openapi_clients.client_types [--check]

Needs `make client-tools` before. Only the schemas that the client sends are kept: the whole
document makes twenty times as many lines, which no program that uses the client would read.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.openapi_clients.__main__ import openapi_document

CLIENT = Path(__file__).parents[2] / "clients/typescript"
TYPES = CLIENT / "src/openapi.ts"
SENT = ("PermitRequest", "OutcomeRequest", "InvoiceSnapshot")
_OPENING = (
    "/** The ledger's requests, made from /openapi.json by `make client-types`, never by hand. */\n"
)


def main(check: bool) -> None:
    """Write the types; with `check` exit with an error where what is committed differs."""
    made = _types(_sent(openapi_document()))
    if not check:
        TYPES.write_text(made, encoding="utf-8")
    elif not TYPES.exists() or TYPES.read_text(encoding="utf-8") != made:
        sys.exit(f"{TYPES.relative_to(CLIENT.parents[1])} is not current: run make client-types")


def _sent(document: dict[str, Any]) -> dict[str, Any]:
    """The document with what the client sends, and no paths."""
    schemas = document["components"]["schemas"]
    kept, waiting = set[str](), list(SENT)
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            waiting += _named(schemas[name])
    chosen = {name: schemas[name] for name in sorted(kept)}
    return {
        "openapi": document["openapi"],
        "info": document["info"],
        "paths": {},
        "components": {"schemas": chosen},
    }


def _named(schema: Any) -> Iterator[str]:
    """The schemas that one names."""
    yield from re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(schema))


def _types(document: dict[str, Any]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "openapi.json", Path(folder) / "openapi.ts"
        source.write_text(json.dumps(document), encoding="utf-8")
        generate = [CLIENT / "node_modules/.bin/openapi-typescript", source, "--output", made]
        ran = subprocess.run(generate, capture_output=True, text=True, timeout=120, check=False)
        if ran.returncode != 0:
            sys.exit(ran.stdout + ran.stderr)
        text = made.read_text(encoding="utf-8")
    # Its own opening says "do not make direct changes", as this one does.
    return _OPENING + re.sub(r"\A/\*\*.*?\*/\s*", "", text, flags=re.DOTALL)


if __name__ == "__main__":
    main("--check" in sys.argv[1:])
