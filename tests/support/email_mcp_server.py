"""A small e-mail MCP server, which the guard's tests stand before: `python … FILE` or `… URL`.

It appends each mail that it sends to the file, as a line of JSON; or posts it to the URL, under its
subject.
"""

import json
import sys
from pathlib import Path

import httpx
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server: MCPServer[None] = MCPServer("mailer", log_level="ERROR")
OUTBOX = Path(sys.argv[1])
RECEIVER = sys.argv[1] if sys.argv[1].startswith("http:") else None


@server.tool()
def send_email(to: list[str], subject: str, body: str) -> dict[str, str]:
    """Send a mail."""
    if subject == "fail":
        raise ToolError("the provider timed out")
    if RECEIVER is not None:
        answer = httpx.post(f"{RECEIVER}/{subject}", json={"to": to, "body": body}, timeout=30)
        return {"id": str(answer.raise_for_status().json()["id"])}
    with OUTBOX.open("a") as outbox:
        outbox.write(json.dumps({"to": to, "subject": subject, "body": body}) + "\n")
    return {"id": f"mail-{len(OUTBOX.read_text().splitlines())}"}


@server.tool()
def reply_to_email(message_id: str, body: str) -> str:
    """Answer a mail."""
    with OUTBOX.open("a") as outbox:
        outbox.write(json.dumps({"answers": message_id, "body": body}) + "\n")
    return "sent"


@server.tool()
def search_emails(to: str, subject: str) -> list[str]:
    """Find mails."""
    return [f"{to}: {subject}"]


@server.prompt()
def greeting(name: str) -> str:
    """How to begin a mail."""
    return f"Dear {name},"


if __name__ == "__main__":
    server.run("stdio")
