"""What is wrong with a body that is not valid, worded for the one who sent it."""

from collections.abc import Sequence
from typing import Any, Protocol, get_args

from api.contract.fields import Kind

KINDS: tuple[str, ...] = get_args(Kind)


class InvalidInput(Protocol):
    """The validation errors that pydantic and FastAPI raise."""

    def errors(self) -> Sequence[Any]:
        """Each invalid field, and why."""


def validation_errors(error: InvalidInput) -> list[dict[str, Any]]:
    """The invalid fields of a body and why, without values, which may be addresses (design D18)."""
    return [_place_and_why(item) for item in list(error.errors())[:20]]


def _place_and_why(item: Any) -> dict[str, Any]:
    """One error of pydantic or FastAPI, worded for the sender of the request."""
    at, kind = ".".join(str(part) for part in item["loc"]), item["type"]
    message = str(item["msg"]).removeprefix("Value error, ")
    if kind == "json_invalid" and item["loc"]:
        why = item.get("ctx", {}).get("error", message)
        at, message = "body", f"this is not JSON, at character {item['loc'][-1]}: {why}"
    elif kind == "missing" and at == "body":
        message = "a JSON body is needed, with Content-Type: application/json"
    elif kind == "extra_forbidden":
        message = "there is no such field"
    elif kind in ("union_tag_not_found", "union_tag_invalid"):
        at, message = _choice(at, item.get("ctx", {}), missing=kind == "union_tag_not_found")
    elif kind == "string_too_short" and item.get("ctx", {}).get("min_length") == 1:
        message = "it must not be empty"
    return {"at": at, "message": message[:300]}


def _choice(at: str, context: dict[str, Any], missing: bool) -> tuple[str, str]:
    """The field that says which of several shapes a body has, and what it may be."""
    field = str(context.get("discriminator", "kind")).strip("'")
    expected = str(context.get("expected_tags", "")).replace("'", "") or ", ".join(KINDS)
    place = f"{at}.{field}" if at else field
    return place, f"{'this field is needed: one' if missing else 'it is none'} of {expected}"


def first_of(errors: list[dict[str, Any]]) -> str:
    """The first of these errors, as the detail of a problem."""
    if not errors:
        return "the body is not valid"
    at, message = errors[0]["at"], errors[0]["message"]
    return f"{at}: {message}" if at else str(message)
