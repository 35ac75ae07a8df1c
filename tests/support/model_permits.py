"""A small model of permits, written from the rules only: send keys, states and windows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

Key = tuple[str, ...]
LIVE = ("granted", "redeemed")
FREED = ("rejected", "expired", "revoked")
LIFE = timedelta(minutes=10)
WINDOWS: dict[str, tuple[tuple[str, ...], timedelta, int]] = {
    "outreach": (("outreach", "apology"), timedelta(hours=24), 2),
    "transactional": (("transactional",), timedelta(hours=24), 20),
    "replies_hour": (("reply",), timedelta(hours=1), 5),
    "replies_day": (("reply",), timedelta(hours=24), 30),
}
"""The lanes that each window counts, how long it is, and how many it holds."""


@dataclass
class ModelItem:
    """An invoice in a reminder, as it stood at the grant."""

    invoice: str
    cycle: int
    stage: str
    supersedes: tuple[str, ...]
    owed: int
    starts: date | None
    repeat: bool

    @property
    def key(self) -> Key:
        """The send key of its stage."""
        return ("stage", self.invoice, str(self.cycle), self.stage)


@dataclass
class ModelPermit:
    """A permit; `number` is that of the command that granted it.

    `keys` is what it holds, `sends` all that it names: a repeat holds nothing. `owner` is the
    other customer whose address it goes to, and `counts_for_owner` from when it may be out on.
    `mail` is what the provider calls it.
    """

    id: str
    number: int
    kind: str
    lane: str
    customer: str
    key_id: str
    sender: str
    required: bool
    granted: datetime
    keys: tuple[Key, ...]
    sends: tuple[Key, ...]
    items: tuple[ModelItem, ...] = ()
    invoice: str | None = None
    thread: str | None = None
    address: str | None = None
    address_named: bool = False
    scope: bytes | None = None
    state: str = "granted"
    redeemed: datetime | None = None
    attempt: str | None = None
    settled: datetime | None = None
    late: bool = False
    overtaken: bool = False
    action: str | None = None
    owner: str | None = None
    counts_for_owner: bool = False
    mail: str | None = None

    @property
    def send_by(self) -> datetime:
        """When its time is up."""
        return self.granted + LIFE

    @property
    def may_be_out(self) -> bool:
        """Redeemed, or of a key that need not redeem."""
        return self.redeemed is not None or not self.required

    @property
    def counts_at(self) -> datetime | None:
        """From when it counts in windows, None if it does not (design D8)."""
        since = self.redeemed or self.granted
        if self.state in ("rejected", "expired"):
            return None
        if self.state == "revoked":
            return since if self.may_be_out else None
        if self.state == "unknown":
            return self.send_by
        if self.state == "sent" and self.settled is not None:
            return max(since, min(self.settled, self.send_by))
        return since

    @property
    def counts_for_owner_at(self) -> datetime | None:
        """From when it counts for the other customer whose address it goes to."""
        if not self.counts_for_owner or self.state == "rejected":
            return None
        return self.counts_at if self.state == "sent" else self.send_by

    def lapse(self, now: datetime) -> None:
        """Expired if it provably was not handed over, else unknown."""
        if self.state in LIVE and now >= self.send_by:
            out = self.may_be_out
            self.state, self.settled = ("unknown" if out else "expired"), now


@dataclass
class ObservedSend:
    """A mail that went out past the ledger, the key it used up and what that superseded."""

    customer: str
    at: datetime
    key: Key | None = None
    supersedes: tuple[str, ...] = ()


@dataclass
class Holdings:
    """Every permit and observed send; `root` tells who a customer is after all merges."""

    root: Callable[[str], str]
    permits: dict[str, ModelPermit] = field(default_factory=dict)
    observed: list[ObservedSend] = field(default_factory=list)
    refusals: dict[Key, int] = field(default_factory=dict)
    first_sent: dict[Key, datetime] = field(default_factory=dict)
    actions: dict[str, str] = field(default_factory=dict)

    def same(self, key: Key) -> Key:
        """The key with its customer as they are known now."""
        if key[0] in ("notification", "digest"):
            return (key[0], self.root(key[1]), *key[2:])
        return (*key[:2], self.root(key[2])) if key[0] == "apology" else key

    def of(self, key: Key) -> list[ModelPermit]:
        """Every permit that was granted for the key."""
        wanted = self.same(key)
        return [p for p in self.permits.values() if wanted in map(self.same, p.keys)]

    def holder(self, key: Key) -> str | None:
        """`sent`, `unknown`, `live`, or None where the key is free."""
        states = {permit.state for permit in self.of(key)}
        if "sent" in states or any(seen.key == key for seen in self.observed):
            return "sent"
        if states & set(LIVE):
            return "live"
        return "unknown" if "unknown" in states else None

    def later_follow_ups(self, key: Key) -> list[tuple[Key, str]]:
        """The held follow-ups of the same thread with a higher number, lowest first, and how."""
        keys = {k for p in self.permits.values() for k in p.keys if k[:2] == key[:2]}
        later = sorted((k for k in keys if int(k[2]) > int(key[2])), key=lambda k: int(k[2]))
        held = [(k, self.holder(k)) for k in later]
        return [(k, holder) for k, holder in held if holder is not None]

    def followed(self, permit: ModelPermit) -> bool:
        """Was a later follow-up of the thread handed over, or may it have been? Repeats pass."""
        if permit.kind != "follow_up" or permit.action is not None:
            return False
        later = {k for key in permit.keys for k, _ in self.later_follow_ups(key)}
        out = [p for key in later for p in self.of(key)]
        return any(p.state in ("redeemed", "sent", "unknown") for p in out)

    def refused(self, key: Key) -> int:
        """How often the provider refused the key's mail."""
        wanted = self.same(key)
        return max([n for k, n in self.refusals.items() if self.same(k) == wanted], default=0)

    def recorded(self, invoice: str, cycle: int, stages: tuple[str, ...]) -> set[str]:
        """The stages of a cycle that somebody holds, or that a held one superseded."""
        found = {s for s in stages if self.holder(("stage", invoice, str(cycle), s)) is not None}
        for permit in self.permits.values():
            for item in permit.items:
                mine = (item.invoice, item.cycle) == (invoice, cycle)
                if mine and permit.state not in FREED and not item.repeat:
                    found |= set(item.supersedes)
        for seen in self.observed:
            if seen.key is not None and seen.key[:3] == ("stage", invoice, str(cycle)):
                found |= set(seen.supersedes)
        return found

    def last_reminder(self, invoice: str) -> datetime | None:
        """When the latest reminder on record, of any cycle, was permitted or sent."""
        times = [at for key, at in self.first_sent.items() if key[:2] == ("stage", invoice)]
        for permit in self.permits.values():
            for item in permit.items:
                on_record = permit.state in (*LIVE, "unknown") and not item.repeat
                if item.invoice == invoice and on_record and item.key not in self.first_sent:
                    times.append(permit.granted)
        return max(times, default=None)

    def used(self, customer: str, window: str, now: datetime) -> int:
        """How many mails of the customer a rolling, half-open window holds now."""
        lanes, span, _ = WINDOWS[window]
        times = [p.counts_at for p in self.mails(customer) if p.lane in lanes]
        times += [
            p.counts_for_owner_at
            for p in self.permits.values()
            if p.lane in lanes and p.owner and self.root(p.owner) == self.root(customer)
        ]
        if "outreach" in lanes:
            times += [o.at for o in self.observed if self.root(o.customer) == self.root(customer)]
        return sum(at is not None and at > now - span for at in times)

    def full(self, customer: str, window: str, now: datetime) -> bool:
        """Is there no place left?"""
        return self.used(customer, window, now) >= WINDOWS[window][2]

    def replies(self, thread: str, now: datetime) -> int:
        """How many replies the thread had within the hour, whoever its customer was."""
        times = [
            p.counts_at for p in self.permits.values() if p.lane == "reply" and p.thread == thread
        ]
        return sum(at is not None and at > now - timedelta(hours=1) for at in times)

    def apologised(self, customer: str, now: datetime) -> bool:
        """Had the customer an apology, of any incident, within thirty days?"""
        return any(
            permit.kind == "apology"
            and permit.state not in FREED
            and ((permit.counts_at or now) if permit.state == "sent" else permit.granted)
            > now - timedelta(days=30)
            for permit in self.mails(customer)
        )

    def lapse(self, now: datetime) -> None:
        """Let all lapse whose time is up."""
        for permit in self.permits.values():
            permit.lapse(now)

    def settle(self, permit: ModelPermit, state: str, now: datetime) -> None:
        """Give a permit its outcome; what was sent takes its keys back from every other permit."""
        if state == "sent" and not permit.may_be_out:
            self.may_be_out(permit)
        permit.late = permit.late or (state == "sent" and permit.state in FREED)
        permit.state, permit.settled = state, now
        if state == "rejected":
            for key in permit.keys:
                self.refusals[key] = self.refused(key) + 1
        if state == "sent":
            for key in permit.keys:
                self._take_back(key, permit.sends, now, permit)
                if key not in self.first_sent and permit.counts_at is not None:
                    self.first_sent[key] = permit.counts_at
            if permit.action is not None:
                self._carried_out(permit, permit.action, now)

    def may_be_out(self, permit: ModelPermit) -> None:
        """It counts for the other customer whose address it goes to, if they still are another."""
        if permit.owner is not None and self.root(permit.owner) != self.root(permit.customer):
            permit.counts_for_owner = True

    def observe(self, seen: ObservedSend, now: datetime) -> None:
        """A mail that went out past the ledger takes its key back too."""
        key = seen.key
        if key is not None and self.holder(key) == "sent":
            seen.key = None
        elif key is not None:
            self._take_back(key, (), now, None)
            self.first_sent.setdefault(key, seen.at)
        self.observed.append(seen)

    def mails(self, customer: str) -> list[ModelPermit]:
        """Every permit of the customer under any of their ids."""
        root = self.root(customer)
        return [p for p in self.permits.values() if self.root(p.customer) == root]

    def _carried_out(self, permit: ModelPermit, action: str, now: datetime) -> None:
        """A human's repeat that went out takes back a second try of the same action."""
        holder = self.permits[self.actions[action]]
        if holder is not permit and holder.state != "sent":
            if holder.state in LIVE:
                self._revoke(holder, permit.sends, now)
            self.actions[action] = permit.id

    def _revoke(self, rival: ModelPermit, sent: tuple[Key, ...], now: datetime) -> None:
        others = set(rival.sends) - set(sent)
        rival.state = "unknown" if others and rival.may_be_out else "revoked"
        rival.settled = now

    def _take_back(
        self, key: Key, sent: tuple[Key, ...], now: datetime, by: ModelPermit | None
    ) -> None:
        """Revoke the live permits of the key; one that may be out with other sends is unknown."""
        for rival in self.of(key):
            if rival is by or rival.state not in LIVE:
                continue
            self._revoke(rival, sent or (key,), now)
        if key[0] != "stage":
            return
        for later in self.permits.values():
            too_early = any(
                key[3] in item.supersedes and item.key[:3] == key[:3] and not item.repeat
                for item in later.items
            )
            if too_early and later is not by and later.state in LIVE and not later.may_be_out:
                later.state, later.settled = "revoked", now
