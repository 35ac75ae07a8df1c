"""Mails that went out and whose permits are lost: digests of their send keys are on record (D13).

The names of kind `lost_send` lead from the digest of a send key, or from a key that was given to
the provider, to the mail that used it. They are looked up once the control aggregate says that
there is one.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

import orjson

from ledger.application.commands import RequestPermit
from ledger.application.effects import Change, NameClaim, Outcome
from ledger.application.kinds.kind import Ask, Judged, PermitSubject
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.control import CONTROL_ID, Control
from ledger.domain.guards import Holder, Subject, final_duplicate
from ledger.domain.permit import Permit, State
from ledger.domain.reasons import Denial
from ledger.domain.send_imprint import read_imprint
from ledger.domain.sendkey import SendKey, override_key, provider_idempotency_key
from ledger.domain.used_subject import UsedSubject
from ledger.domain.value import value

LOST_SEND = "lost_send"
_PROVIDER_KEY = "provider-key:"


@value
class LostMail:
    """A mail that went out and whose permit is not known; times are UTC.

    `mail_id` is that of the observed mail, `permit_id` the permit's where that is told. `noted_at`
    is when the ledger heard of it.
    """

    mail_id: str
    permit_id: str | None
    sender: str
    at: datetime
    noted_at: datetime
    provider_message_id: str | None = None

    def as_holder(self) -> Holder:
        """The mail as what holds a send key."""
        return Holder(State.SENT, self.permit_id, self.sender, self.at, self.provider_message_id)


def was_noted(target: str, now: datetime) -> bool:
    """Had the ledger heard by then (UTC) of the mail that a name of this kind leads to?

    For explanations of past decisions alone: a clock that was put back must not free a send.
    """
    return _read(target).noted_at <= now


def put_on_record(world: World, outcome: Outcome, names: Iterable[str], mail: LostMail) -> None:
    """Let every ask for a send with one of these digests be denied; the first mail of each stays.

    With the first of all, the control aggregate says that there are any.
    """
    fresh = [name for name in dict.fromkeys(names) if world.name(LOST_SEND, name) is None]
    target = orjson.dumps(mail, option=orjson.OPT_UTC_Z).decode()
    outcome.names.extend(NameClaim(LOST_SEND, name, target) for name in fresh)
    noted = any(change.event is Control.LostSendNoted for change in outcome.changes)
    if fresh and not noted and not world.control.lost_sends:
        outcome.changes.append(Change(CONTROL_ID, Control.LostSendNoted, {"mail_id": mail.mail_id}))


def digests_of(world: World, keys: Iterable[SendKey]) -> tuple[str, ...]:
    """The names of send keys on record, each once."""
    return tuple(dict.fromkeys(world.identity.key_digest(key) for key in keys))


def provider_key_name(provider_key: str) -> str:
    """The name on record of a key that was given to the provider."""
    return _PROVIDER_KEY + provider_key


def load_used(walk: Walk, subject: PermitSubject, override: str | None) -> None:
    """Walk to what is on record of the send keys of an ask."""
    walk.names_found(LOST_SEND, lambda world: _names_asked(world, subject, override))


def judged_by_record(world: World, ask: Ask, subject: PermitSubject) -> list[Subject]:
    """The subjects of an ask, those as used whose send keys a lost mail has used."""
    if not ask.case.control.lost_sends:
        return [asked.judged for asked in ask.subjects]
    found: list[Subject] = []
    for asked, keys in zip(ask.subjects, subject.send_keys(world, world.now), strict=True):
        mail = _mail_of(world, digests_of(world, keys))
        found.append(asked.judged if mail is None else UsedSubject(asked.judged, mail))
    return found


def used_as_a_whole(world: World, ask: Ask, command: RequestPermit, first: Judged) -> Denial | None:
    """The denial of a mail that went out by the very keys which the grant would use, or None.

    `ask` is narrowed to what would be granted, `first` the first of it. A provider's key tells of
    the mail as a whole, and differs with each refusal: those up to the hold are looked up.
    """
    if not ask.case.control.lost_sends:
        return None
    tries = range(max(world.policy.rejections_before_hold, ask.rejections) + 1)
    names = [
        *digests_of(world, ask.keys),
        *(provider_key_name(provider_idempotency_key(ask.keys, tried)) for tried in tries),
    ]
    mail = _mail_of(world, names)
    return final_duplicate(ask.case, UsedSubject(first.judged, mail)) if mail is not None else None


def used_action(world: World, action_id: str) -> Denial | None:
    """The denial of a human's repeat whose permit is lost, None where none is on record."""
    if not world.control.lost_sends:
        return None
    mail = _mail_of(world, digests_of(world, (override_key(action_id),)))
    if mail is None:
        return None
    return Denial(
        "already_sent",
        f"action {action_id} was carried out already",
        permit_id=mail.permit_id,
        original=mail.as_original(),
    )


def load_used_elsewhere(walk: Walk, permit: Permit) -> None:
    """Walk to what is on record of the send keys of a permit."""
    walk.names_found(LOST_SEND, lambda world: _names_of_permit(permit))


def used_elsewhere(world: World, permit: Permit) -> str | None:
    """Why a permit must not be used: a lost mail has used its send key; None if none has.

    A human's deliberate repeat passes it, as when it was asked for (design D14).
    """
    if permit.action is not None or not world.control.lost_sends:
        return None
    mail = _mail_of(world, _names_of_permit(permit))
    return None if mail is None else f"its mail was sent at {mail.at} already"


def _names_of_permit(permit: Permit) -> tuple[str, ...]:
    imprint = read_imprint(permit.imprint)
    return imprint.digests if imprint is not None else ()


def _names_asked(world: World, subject: PermitSubject, override: str | None) -> Iterator[str]:
    if override is not None:
        yield from digests_of(world, (override_key(override),))
    for keys in subject.send_keys(world, world.now):
        yield from digests_of(world, keys)


def _mail_of(world: World, names: Iterable[str]) -> Holder | None:
    """The first mail on record under one of these names, whatever the clock showed at the time."""
    found = (world.name(LOST_SEND, name) for name in names)
    target = next((target for target in found if target is not None), None)
    return _read(target).as_holder() if target is not None else None


def _read(target: str) -> LostMail:
    told = orjson.loads(target)
    times = {word: datetime.fromisoformat(told[word]) for word in ("at", "noted_at")}
    return LostMail(**(told | times))
