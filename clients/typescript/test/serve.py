"""Starts a real ledger on a test clock for the tests of the TypeScript client.

    python -m clients.typescript.test.serve

Prints one line of JSON, `url` and a `key` with every scope, and ends when its standard input does.
"""

import json
import sys

from tests.support.postgres import running_postgres
from tests.support.service import fresh_service


def main() -> None:
    """Serve until nobody listens any more."""
    with (
        running_postgres(fast=True) as postgres,
        fresh_service(postgres, "2026-12-01T00:00:00+00:00") as service,
    ):
        print(json.dumps({"url": str(service.http.base_url), "key": service.key}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
