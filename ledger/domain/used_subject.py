"""A send that is known to be made by a digest of its key alone: its permit is lost (design D13)."""

from ledger.domain.guards import Holder, Subject
from ledger.domain.reasons import Denial
from ledger.domain.value import value


@value
class UsedSubject:
    """The subject of an ask, held by a mail that went out and whose permit is lost."""

    subject: Subject
    mail: Holder

    @property
    def name(self) -> str:
        """What a person calls the send."""
        return self.subject.name

    @property
    def duplicate_code(self) -> str:
        """The code for a second copy of it."""
        return self.subject.duplicate_code

    def holder(self) -> Holder | None:
        """What is on record as sent, else the mail: a live permit would be for a second copy."""
        held = self.subject.holder()
        return held if held is not None and held.final else self.mail

    def obstacle(self) -> Denial | None:
        """Why the facts forbid it."""
        return self.subject.obstacle()
