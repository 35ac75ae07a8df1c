"""Messages of threads as the cases about conversations tell them, and requests to reply."""

from typing import Any

from tests.support.service import Answer, Client, Service


def inbound(service: Service, thread: str, message_id: str, **fields: Any) -> Answer:
    """A message that came in, a person's unless its fields say otherwise."""
    return told(service, thread, message_id, "inbound", **fields)


def told(service: Service, thread: str, message_id: str, direction: str, **fields: Any) -> Answer:
    """A message of a thread; `from_` is its sender."""
    if "from_" in fields:
        fields["from"] = fields.pop("from_")
    data = {"thread_id": thread, "message_id": message_id, "direction": direction}
    return service.fact("thread.message", data | fields)


def reply(agent: Client, thread: str, message_id: str, **fields: Any) -> Answer:
    """A request to reply to a message."""
    return agent.ask("reply", thread_id=thread, in_reply_to=message_id, **fields)
