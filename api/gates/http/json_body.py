"""JSON of calls: read strictly, and never passed on as it came.

What goes on is written anew from what the gate read, so that a doubled member, another spelling or
an unknown field cannot name a recipient that the gate does not see.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from api.gates.http.call import BadCall, Call

_DEEPEST = 60
_HALF = re.compile("[\ud800-\udfff]")


def json_of(call: Call) -> Any:
    """The body. Raises BadCall for what is no JSON."""
    kind = (call.header("content-type") or "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise BadCall("the body is not application/json", 415)
    try:
        value = json.loads(call.body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise BadCall("the body is no JSON", 400) from None
    if not _can_be_written(value, _DEEPEST):
        raise BadCall("the body holds half a character, or is nested too deeply", 400)
    return value


def fields_of(value: Any, known: frozenset[str], also: frozenset[str], what: str) -> dict[str, Any]:
    """The members of an object under their own spelling, null left out.

    `known` are those that the gate understands, `also` those that the file lets through. Raises
    BadCall for any other: it might name a recipient, or a time.
    """
    if not isinstance(value, dict):
        raise BadCall(f"{what} is an object")
    spelling = {name.casefold(): name for name in (*known, *also)}
    found: dict[str, Any] = {}
    for given, content in value.items():
        name = spelling.get(given.casefold())
        if name is None:
            raise BadCall(
                f"the gate does not know the field {given[:60]!r} of {what}; if it names neither "
                "recipients nor a time, allow it in the gate's file, under [fields]"
            )
        if name in found:
            raise BadCall(f"{what} has {name} twice")
        if content is not None:
            found[name] = content
    return found


def text(fields: Mapping[str, Any], name: str, what: str) -> str:
    """A text that must be there, with something in it. Raises BadCall."""
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadCall(f"{what} needs {name}")
    return value


def no_time(fields: Mapping[str, Any], *names: str) -> None:
    """Raises BadCall for a mail that the provider would keep: its permit is for now."""
    if any(fields.get(name) for name in names):
        raise BadCall(
            "a mail that the provider keeps until later cannot be guarded: what its permit rests "
            "on may have changed by then. Send it when it is due"
        )


def items_of(value: Any, most: int, what: str) -> list[Any]:
    """The elements of a list of mails. Raises BadCall."""
    if not isinstance(value, list) or not value:
        raise BadCall(f"{what} is a list of mails")
    if len(value) > most:
        raise BadCall(f"{what} has {most} mails at most", 413)
    return value


def objects_of(value: Any, what: str) -> list[dict[str, Any]]:
    """The elements of a list of objects, none where there is no list. Raises BadCall."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise BadCall(f"{what} is a list of objects")
    return value


def _can_be_written(value: Any, deep: int) -> bool:
    """Can it be written as JSON in UTF-8? It must not fail when the permit is redeemed."""
    if isinstance(value, str):
        return not _HALF.search(value)
    if not isinstance(value, dict | list):
        return True
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    return deep > 0 and all(_can_be_written(one, deep - 1) for one in inner)


def _no_number(name: str) -> None:
    raise ValueError(name)
