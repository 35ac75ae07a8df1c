"""What a kind of mail is to the ledger: the protocol that the file of each kind keeps."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from typing import Any, ClassVar, Protocol, Self

from ledger.application.caller import Caller
from ledger.application.effects import Ids, Outcome
from ledger.application.key_limits import GoesWith, KeyLimits
from ledger.application.walk import Walk
from ledger.application.world import World
from ledger.domain.guards import Case, Subject
from ledger.domain.identity import Address
from ledger.domain.permit import Item, Lane, Permit
from ledger.domain.policy import Policy
from ledger.domain.reasons import Denial
from ledger.domain.sendkey import SendKey
from ledger.domain.sends import SendBook
from ledger.domain.value import value


class Request(Protocol):
    """A request for a permit as far as a kind looks at it."""

    @property
    def caller(self) -> Caller:
        """Who asks."""

    @property
    def override(self) -> object | None:
        """The human's action that it repeats a send for, None where it is no repeat."""

    @property
    def cc(self) -> tuple[Address, ...]:
        """Who is to get a copy."""


@value
class Judged:
    """A subject of the guards, and the outside id under which an answer speaks of it."""

    ref: str
    judged: Subject


@dataclass(slots=True)
class Ask:
    """A request as the guards and the grant need it.

    `setup` registers what the ledger has not heard of; it is done only with a grant. `book` is
    where the `slots` are on record. `names` are those of the send under every id of its customer,
    the present id first, and `aliases` its send keys under the ids but the present one.
    `address_named` tells that the mail goes to an address of its own, not to
    the customer's preferred one, and `another_s` whose it is where it is another customer's (ADR
    0016); `misdirected` is why it may not go there, which a key is told only about a customer whom
    it may mail. `extras` are further fields of the 201.
    """

    subjects: list[Judged]
    case: Case
    customer_id: str
    setup: Outcome = field(default_factory=Outcome)
    keys: tuple[SendKey, ...] = ()
    items: tuple[Item, ...] = ()
    slots: tuple[str, ...] = ()
    book: SendBook | None = None
    rejections: int = 0
    invoice_id: str | None = None
    thread_id: str | None = None
    incident_id: str | None = None
    names: tuple[str, ...] = ()
    aliases: tuple[SendKey, ...] = ()
    lists_withheld: bool = False
    address_named: bool = False
    misdirected: Denial | None = None
    another_s: str | None = None
    extras: dict[str, Any] = field(default_factory=dict)

    @property
    def ids(self) -> Ids:
        """The ids by which the decision is found again."""
        return Ids(
            customer_id=self.customer_id or None,
            invoice_id=self.invoice_id,
            thread_id=self.thread_id,
        )


@value
class Granted:
    """A permit being granted: what was asked for, and which subjects of it the guards let pass.

    `repeated` are the refs of those that are a human's deliberate repeat (design D14).
    """

    permit: Permit
    ask: Ask
    passed: list[Judged]
    repeated: Collection[str]


class PermitSubject(Protocol):
    """What a permit is asked for. Each kind of mail is a class that derives from this one.

    An instance holds the fields of one request. What has a body here is right for most kinds.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """The name of the kind in requests, permits, holds and pauses."""
    code: ClassVar[str]
    """Its letter in what a mail carries of its permit; never given to another kind."""
    dunning: ClassVar[bool] = False
    """Does it remind of invoices?"""
    sets_up: ClassVar[bool] = False
    """May it be the first that the ledger hears of a customer or a thread? No facts ride along."""
    optional: ClassVar[bool] = False
    """Does whoever leaves a mailing list want none of it any more? What is owed is not optional."""
    ends_with_subscription: ClassVar[bool] = False
    """Can the end of a subscription take its reason away?"""
    goes_with: ClassVar[GoesWith | None] = None
    """The limit of a key that it goes with, where the key names no kinds."""

    @property
    def claim(self) -> bool:
        """Is it one of a claim's, which asks for whoever can be mailed now?"""
        return False

    def ends_at(self, policy: Policy) -> datetime | None:
        """From when on the mail is too late to be of use (UTC), None if it never is."""
        return None

    @classmethod
    def from_body(cls, body: Any, address: Callable[[str], Address]) -> Self:
        """The subject of a request's valid body; `address` fingerprints the text of an address."""

    @classmethod
    def from_sent(cls, told: Mapping[str, Any]) -> Self:
        """The mail as whoever saw it go out tells of it: its fields by name, None where not told.

        Raises ValueError for one that does not name everything that its send key is made of.
        """
        known: Mapping[str, Any] = {part.name: part for part in fields(cls)}  # type: ignore[arg-type]
        given = {name: told[name] for name in known if told.get(name) is not None}
        needed = [name for name, part in known.items() if part.default is MISSING]
        missing = [name for name in needed if name not in given]
        if missing:
            raise ValueError(f"a mail of kind {cls.kind} needs {' and '.join(missing)}")
        return cls(**given)

    def beyond(self, limits: KeyLimits, judged: Judged | None = None) -> Denial | None:
        """What a key's limits forbid of the request, or of a subject that the guards let pass."""
        return None

    def concerns(self) -> Collection[str]:
        """The ids that facts riding along may be about, where they may be about nothing else."""
        return ()

    def as_logged(self, logged: Mapping[str, Any]) -> Self:
        """The subject with what the decision log alone tells of a request: no body had it."""
        return self

    def load(self, walk: Walk) -> None:
        """Walk to everything that a decision about it looks at."""

    def customers(self, world: World) -> list[str]:
        """The ids of the customers whose permits bear on it, as far as the ledger knows them."""

    def holders(self, world: World) -> list[str]:
        """Permits that may hold its send key from another customer's windows."""
        return []

    def send_keys(self, world: World, at: datetime) -> tuple[tuple[SendKey, ...], ...]:
        """The send keys that the mail uses when it goes out at that time (UTC).

        For each subject of an ask, in its order: under every name that the ledger knows for it.
        """

    @classmethod
    def lane(cls, transactional: bool) -> Lane:
        """In which lane it goes: which windows it counts in, what binds it (design D8).

        A transactional key has a lane of its own for receipts, never for dunning.
        """

    def ask(self, world: World, request: Request) -> Ask | Denial:
        """What the request comes down to: subjects, customer, address and send keys; or a no."""

    def narrow(self, ask: Ask, passed: list[Judged]) -> None:
        """Leave in the ask only what the guards let pass, before its permit is made."""
        return None

    def record(self, world: World, outcome: Outcome, granted: Granted) -> None:
        """Add to the outcome what this kind writes with a grant, and says in its 201."""
        return None

    def shown_invoices(self) -> tuple[str, ...]:
        """The invoices that an explanation shows, where it is more than the first one."""
        return ()
