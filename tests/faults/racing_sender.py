"""A sender in a process of its own, for races: asks for all it is told to, in its own order."""

import json
import random
import sys

import httpx


def main() -> None:
    """Read what to ask from standard input; print the requests that heard 201, by their name."""
    told = json.load(sys.stdin)
    requests = list(told["requests"].items())
    random.Random(told["seed"]).shuffle(requests)
    headers = {"Authorization": f"Bearer {told['key']}"}
    granted = []
    with httpx.Client(base_url=told["url"], headers=headers, timeout=60) as client:
        for name, body in requests:
            if client.post("/v1/permits", json=body).status_code == 201:
                granted.append(name)
    json.dump(granted, sys.stdout)


if __name__ == "__main__":
    main()
