"""Generates clients from the OpenAPI document, as users do, and fails on whatever is said of it.

    python -m tests.openapi_clients FOLDER

FOLDER has the tools: a virtual environment `python` with openapi-python-client, and `node_modules`
with openapi-typescript and typescript (`make check-openapi` puts them there).
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from api.http.app import openapi_of
from api.process.assembly import build_app
from api.settings.environment import load_settings

_HERE = Path(__file__).parent
_ALL_MODULES = """
import importlib, pkgutil, send_ledger_client as client
found = list(pkgutil.walk_packages(client.__path__, client.__name__ + "."))
for module in found:
    importlib.import_module(module.name)
assert len(found) > 300, len(found)
"""
_ONE_ROUND = """
from send_ledger_client.models import Permit, Problem
problem = {"type": "/problems/paused", "title": "t", "status": 409, "detail": "d", "code": "paused",
           "retryable": False, "next_action": "ask_human", "next_step": "n"}
assert Problem.from_dict(problem).to_dict() == problem
permit = {"permit_id": "p", "state": "granted", "kind": "reminder", "customer_id": "c", "to": None,
          "items": [], "granted_at": "2026-12-01T00:00:00+00:00",
          "send_by": "2026-12-01T00:10:00+00:00"}
assert Permit.from_dict(permit).to_dict() == permit
"""


def main(folder: Path) -> None:
    """Write the document, generate both clients, and use them."""
    document = folder / "openapi.json"
    document.write_text(json.dumps(openapi_document(), indent=1), encoding="utf-8")
    _python(folder, document)
    _typescript(folder, document)
    print("openapi-python-client and openapi-typescript take the document as it is")


def openapi_document() -> dict[str, Any]:
    """The document as a service shows it."""
    given = {"LEDGER_SECRET": "a secret for the document", "LEDGER_DATA_DIR": "/nonexistent"}
    return openapi_of(build_app(load_settings(given), "dbname=none", True))


def _python(folder: Path, document: Path) -> None:
    tools, made = folder / "python" / "bin", folder / "client"
    shutil.rmtree(made, ignore_errors=True)
    generate = [tools / "openapi-python-client", "generate", "--fail-on-warning", "--meta", "none"]
    _run(
        *generate,
        *("--path", document, "--output-path", made / "send_ledger_client"),
        PATH=f"{tools}{os.pathsep}{os.environ['PATH']}",
    )
    for program in (_ALL_MODULES, _ONE_ROUND):
        _run(tools / "python", "-W", "error", "-c", program, PYTHONPATH=str(made))


def _typescript(folder: Path, document: Path) -> None:
    tools = folder / "node_modules" / ".bin"
    _run(tools / "openapi-typescript", document, "--output", folder / "ledger.d.ts")
    shutil.copy(_HERE / "asks.ts", folder / "asks.ts")
    _run(tools / "tsc", "--noEmit", "--strict", "--skipLibCheck", "false", folder / "asks.ts")


def _run(*command: object, **environ: str) -> None:
    done = subprocess.run(
        [str(word) for word in command],
        env=os.environ | environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{command[0]} failed with {done.returncode}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
