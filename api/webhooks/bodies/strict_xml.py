"""Parses XML with a hardened parser, and only to the depth that notifications have."""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from api.webhooks.bodies.record import Record
from api.webhooks.bodies.unusable import Unusable

_PLAIN = b'<?xml version="1.0" encoding="UTF-8"?>'
"""In UTF-8 a byte below 128 is always that character, so searching the bytes finds every `<!`."""
_INTEGER = re.compile(r"-?[0-9]{1,30}", re.ASCII)


def read_xml(body: bytes) -> tuple[str, Record]:
    """The root's name and its content: objects, and their leaves as text, integer or boolean.

    Raises Unusable for invalid XML, for any document type (it could declare entities) and for a
    repeated element. Elements below an object's leaves are left out.
    """
    try:
        root = _root(body)
    except DefusedXmlException:
        raise Unusable("malformed_xml", "the body declares a document type") from None
    except (ParseError, ValueError, LookupError):
        raise Unusable("malformed_xml", "the body is not XML") from None
    return root.tag, Record(_members(root, deep=True))


def _root(body: bytes) -> Element:
    """The root element.

    Without `<!` there is no document type and therefore no attack by entities: the fast parser is
    used. The hardened parser, which is written in Python, is used for all other bodies.
    """
    if body.startswith(_PLAIN) and b"<!" not in body:
        return ElementTree.fromstring(body)
    root: Element = fromstring(body, forbid_dtd=True)
    return root


def _members(element: Element, *, deep: bool) -> dict[str, object]:
    """The children by their names: leaves, and with `deep` also objects of leaves."""
    members: dict[str, object] = {}
    for child in element:
        is_leaf = not len(child)
        if not is_leaf and not deep:
            continue
        if child.tag in members:
            raise Unusable("malformed_xml", "an element in the body has the same child twice")
        members[child.tag] = _leaf(child) if is_leaf else _members(child, deep=False)
    return members


def _leaf(element: Element) -> object:
    text = (element.text or "").strip()
    if not text:
        return None
    kind = element.get("type")
    if kind is None:
        return text
    if kind == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return text
