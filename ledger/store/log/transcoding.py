"""Encodes events, permits and snapshots as JSON, and decodes them by their declared field types.

orjson encodes dataclasses, enums, dates and times itself; decoding needs the declared types. The
library's JSON transcoder wraps every such value in a tagged object, which is hard to query in SQL,
and it is slower for every permit (ADR 0002).
"""

import dataclasses
import enum
import types
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import cache
from operator import attrgetter
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import orjson
from eventsourcing.domain import Aggregate, DomainEventProtocol
from eventsourcing.persistence import Mapper, StoredEvent, Transcoder
from eventsourcing.utils import get_topic, resolve_topic

from ledger.domain.control import Control
from ledger.domain.customer import Customer
from ledger.domain.incident import Incident
from ledger.domain.invoice import Invoice
from ledger.domain.job import Job
from ledger.domain.mailbox import Mailbox
from ledger.domain.permit import Permit
from ledger.domain.thread import Thread

Reader = Callable[[Any], Any]
AGGREGATES: tuple[type[Aggregate], ...] = (
    Invoice,
    Customer,
    Mailbox,
    Thread,
    Incident,
    Job,
    Control,
)
_STATE_VERSIONS: tuple[tuple[Any, int], ...] = (
    (Invoice, 4),
    (Customer, 5),
    (Mailbox, 2),
    (Thread, 3),
)
SNAPSHOT_TOPICS: dict[str, Any] = {
    f"{kind.TOPIC}#{number}": kind for kind, number in _STATE_VERSIONS
}
"""Topics of snapshots. Increase the number when a STATE changes: older snapshots are ignored."""
_OPTIONS = orjson.OPT_UTC_Z
_NOTHING: Mapping[str, tuple[Permit, bytes]] = {}
_UNWRITTEN: tuple[Permit | None, bytes] = (None, b"")
_ALWAYS: Any = object()
_PERMIT_FIELDS = tuple(field.name for field in dataclasses.fields(Permit))
_PERMIT_DEFAULTS = tuple(
    _ALWAYS if field.name == "items" or field.default is dataclasses.MISSING else field.default
    for field in dataclasses.fields(Permit)
)
_permit_values = attrgetter(*_PERMIT_FIELDS)
_NOT_STATE = frozenset({"originator_id", "originator_version"})


def write_json(value: Any) -> bytes:
    """Encode a value of the domain as JSON bytes."""
    return orjson.dumps(value, option=_OPTIONS)


class NewerEvent(Exception):
    """A newer version of the program wrote this event; nothing can be decided on it here."""


class OrjsonTranscoder(Transcoder):
    """The library's transcoder interface, implemented with orjson for plain values only."""

    def encode(self, obj: Any) -> bytes:
        """The value as JSON bytes."""
        return write_json(obj)

    def decode(self, data: bytes) -> Any:
        """Decode JSON bytes to plain values; no class's types are applied."""
        return orjson.loads(data)


class TypedMapper(Mapper[UUID]):
    """The library's mapper; it decodes each field as the type that the event class declares."""

    def __init__(self) -> None:
        super().__init__(OrjsonTranscoder())

    def to_stored_event(self, domain_event: DomainEventProtocol[UUID]) -> StoredEvent:
        """Encode an event for the log."""
        return StoredEvent(
            domain_event.originator_id,
            domain_event.originator_version,
            get_topic(type(domain_event)),
            write_state(domain_event),
        )

    def to_domain_event(self, stored_event: StoredEvent) -> DomainEventProtocol[UUID]:
        """Decode an event from the log."""
        event: DomainEventProtocol[UUID] = read_event(
            UUID(str(stored_event.originator_id)),
            stored_event.originator_version,
            stored_event.topic,
            orjson.loads(stored_event.state),
        )
        return event


def write_permit(permit: Permit) -> bytes:
    """Encode a permit as JSON bytes, without the fields that have their default.

    That is half of its text, which each grant writes twice. `items` is always there: read models
    count them.
    """
    values = zip(_PERMIT_FIELDS, _permit_values(permit), _PERMIT_DEFAULTS, strict=True)
    return write_json({name: value for name, value, default in values if value is not default})


def write_state(event: Any, permits: Mapping[str, tuple[Permit, bytes]] = _NOTHING) -> bytes:
    """The state of an event as JSON: its fields without id and version, and its class version.

    `permits` are permits with their JSON, already encoded: a permit is the largest part of its
    event, and need not be encoded twice.
    """
    state = vars(event).copy()
    del state["originator_id"], state["originator_version"]
    permit = state.get("permit")
    if isinstance(permit, Permit):
        known, written = permits.get(permit.permit_id, _UNWRITTEN)
        if known is not permit:
            written = write_permit(permit)
        state["permit"] = orjson.Fragment(written)
    version = type(event).class_version
    if version > 1:
        state["class_version"] = version
    return write_json(state)


def read_event(originator_id: UUID, version: int, topic: str, state: dict[str, Any]) -> Any:
    """Decode the event of a topic, upcast where the stored state has an older class version.

    Raises NewerEvent for one of a newer class version: what it adds may forbid a mail.
    """
    cls = resolve_topic(topic)
    stored_version = state.pop("class_version", 1)
    if stored_version > cls.class_version:
        raise NewerEvent(
            f"{topic} is of version {stored_version}, this program knows {cls.class_version}: "
            "run a newer version"
        )
    while stored_version < cls.class_version:
        getattr(cls, f"upcast_v{stored_version}_v{stored_version + 1}")(state)
        stored_version += 1
    fields = {name: read(state[name]) for name, read in _field_readers(cls) if name in state}
    fields["originator_id"] = originator_id
    fields["originator_version"] = version
    event = object.__new__(cls)
    event.__dict__.update(fields)
    return event


def read_as(cls: Any, value: Any) -> Any:
    """Convert a value parsed from JSON to the declared type."""
    return _reader(cls)(value)


def write_snapshot(aggregate: Any) -> bytes:
    """Encode the fields in an aggregate's STATE, and the library's created and modified times."""
    state: dict[str, Any] = {
        "created_on": aggregate.created_on,
        "modified_on": aggregate.modified_on,
    }
    for name, kind in aggregate.STATE.items():
        value = getattr(aggregate, name)
        state[name] = list(value.items()) if _has_tuple_keys(kind) else value
        if isinstance(value, set):
            state[name] = sorted(value)
    return write_json(state)


def read_snapshot(originator_id: UUID, version: int, topic: str, state: dict[str, Any]) -> Any:
    """Rebuild an aggregate from a snapshot."""
    cls = SNAPSHOT_TOPICS[topic]
    aggregate: Any = cls.__new__(cls)
    created_on = datetime.fromisoformat(state["created_on"])
    aggregate.__base_init__(originator_id, version, created_on)
    aggregate.modified_on = datetime.fromisoformat(state["modified_on"])
    for name, kind in cls.STATE.items():
        setattr(aggregate, name, _reader(kind)(state[name]))
    return aggregate


def event_classes() -> list[Any]:
    """Every event class of the domain."""
    return [
        member
        for kind in AGGREGATES
        for member in vars(kind).values()
        if isinstance(member, type) and hasattr(member, "TOPIC")
    ]


@cache
def _field_readers(cls: Any) -> list[tuple[str, Reader]]:
    hints = get_type_hints(cls)
    names = [field.name for field in dataclasses.fields(cls) if field.name not in _NOT_STATE]
    return [(name, _reader(hints[name])) for name in names]


def _has_tuple_keys(kind: Any) -> bool:
    return get_origin(kind) is dict and get_origin(get_args(kind)[0]) is tuple


def _same(value: Any) -> Any:
    return value


_SCALARS: dict[Any, Reader] = {
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    UUID: UUID,
    str: _same,
    int: _same,
    bool: _same,
    Any: _same,
    types.NoneType: _same,
}


@cache
def _reader(kind: Any) -> Reader:
    """The function that converts a JSON value to the type `kind`."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        (inner,) = [a for a in arguments if a is not types.NoneType]
        read = _reader(inner)
        return lambda value: None if value is None else read(value)
    if origin is tuple:
        return _tuple_reader(arguments)
    if origin is set:
        return set
    if origin is dict:
        return _dict_reader(kind, arguments)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind
    if dataclasses.is_dataclass(kind):
        return _dataclass_reader(kind)
    raise TypeError(f"no reader for {kind!r}")


def _tuple_reader(arguments: tuple[Any, ...]) -> Reader:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        read = _reader(arguments[0])
        return lambda value: tuple(read(item) for item in value)
    readers = [_reader(a) for a in arguments]
    return lambda value: tuple(r(item) for r, item in zip(readers, value, strict=True))


def _dict_reader(kind: Any, arguments: tuple[Any, ...]) -> Reader:
    read = _reader(arguments[1])
    if _has_tuple_keys(kind):
        read_key = _reader(arguments[0])
        return lambda value: {read_key(key): read(item) for key, item in value}
    return lambda value: {key: read(item) for key, item in value.items()}


def _dataclass_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    readers = [(field.name, _reader(hints[field.name])) for field in dataclasses.fields(kind)]

    def read(value: dict[str, Any]) -> Any:
        return kind(**{name: reader(value[name]) for name, reader in readers if name in value})

    return read
