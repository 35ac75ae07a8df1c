"""Every event, permit and snapshot of an aggregate comes back from the store as it went in."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import pytest
from eventsourcing.domain import Aggregate
from eventsourcing.utils import get_topic, resolve_topic
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.domain.customer import Customer
from ledger.domain.permit import Permit
from ledger.store.log.transcoding import (
    AGGREGATES,
    SNAPSHOT_TOPICS,
    TypedMapper,
    event_classes,
    read_as,
    read_snapshot,
    write_json,
    write_permit,
    write_snapshot,
    write_state,
)
from tests.support.typed_values import fields_of, moments, values_of

EVENTS = {cls.TOPIC: cls for cls in event_classes()}
SNAPSHOTS = SNAPSHOT_TOPICS


def test_every_event_class_is_found_and_has_a_topic_and_version_of_its_own() -> None:
    declared = [
        member
        for kind in AGGREGATES
        for member in vars(kind).values()
        if isinstance(member, type)
        and issubclass(member, Aggregate.Event)
        and member is not vars(kind).get("Event")
    ]
    assert len(declared) > 30
    assert set(declared) == set(EVENTS.values())
    assert len(EVENTS) == len(event_classes()), "two events share a topic"
    for topic, cls in EVENTS.items():
        assert topic.startswith("ledger:")
        assert get_topic(cls) == topic
        assert resolve_topic(topic) is cls
        assert cls.class_version >= 1


@pytest.mark.parametrize("topic", EVENTS)
@settings(max_examples=15)
@given(data=st.data())
def test_an_event_comes_back_as_it_was(topic: str, data: st.DataObject) -> None:
    cls = EVENTS[topic]
    version = st.integers(1, 2**31)
    fields = fields_of(cls, originator_id=st.uuids(), originator_version=version)
    event = cls(**data.draw(st.fixed_dictionaries(fields)))
    mapper = TypedMapper()
    back: Any = mapper.to_domain_event(mapper.to_stored_event(event))
    assert type(back) is cls
    assert back == event
    assert vars(back) == vars(event)
    for name, value in vars(event).items():
        assert type(getattr(back, name)) is type(value), name


@settings(max_examples=100)
@given(values_of(Permit), st.uuids(), moments())
def test_a_permit_written_before_its_event_is_written_alike(
    permit: Permit, customer: UUID, at: datetime
) -> None:
    event = Customer.MailPermitted(
        originator_id=customer, originator_version=2, timestamp=at, permit=permit
    )
    plain = write_state(event)
    assert write_state(event, {permit.permit_id: (permit, write_permit(permit))}) == plain
    changed = replace(permit, rejections=permit.rejections + 1)
    assert write_state(event, {permit.permit_id: (changed, write_permit(changed))}) == plain


@settings(max_examples=200)
@given(values_of(Permit))
def test_a_permit_comes_back_as_it_was(permit: Permit) -> None:
    assert read_as(Permit, orjson.loads(write_json(permit))) == permit
    assert read_as(Permit, orjson.loads(write_permit(permit))) == permit


@pytest.mark.parametrize("topic", SNAPSHOTS)
@settings(max_examples=60)
@given(data=st.data())
def test_a_snapshot_comes_back_as_the_aggregate_was(topic: str, data: st.DataObject) -> None:
    cls: Any = SNAPSHOTS[topic]
    aggregate = cls.__new__(cls)
    id_, version = data.draw(st.uuids()), data.draw(st.integers(1, 2**31))
    aggregate.__base_init__(id_, version, data.draw(moments()))
    aggregate.modified_on = data.draw(moments())
    for name, kind in cls.STATE.items():
        setattr(aggregate, name, data.draw(values_of(kind)))
    state = orjson.loads(write_snapshot(aggregate))
    back = read_snapshot(id_, version, topic, state)
    assert vars(back) == vars(aggregate)


@pytest.mark.parametrize("topic", SNAPSHOTS)
def test_a_snapshot_holds_all_that_a_new_aggregate_has(topic: str) -> None:
    cls: Any = SNAPSHOTS[topic]
    named = {name for name in cls.__init__.__annotations__ if name != "return"}
    blank = cls.__new__(cls)
    cls.__init__(blank, **dict.fromkeys(named, "x"))
    assert set(cls.STATE) == set(vars(blank))
