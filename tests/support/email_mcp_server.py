"""A small e-mail MCP server, which the guard's tests stand before: `python … FILE`.

It appends each mail that it sends to the file, as a line of JSON.
"""

import json
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server: MCPServer[None] = MCPServer("mailer", log_level="ERROR")
OUTBOX = Path(sys.argv[1])


@server.tool()
def send_email(to: list[str], subject: str, body: str) -> dict[str, str]:
    """Send a mail."""
    if subject == "fail":
        raise ToolError("the provider timed out")
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
