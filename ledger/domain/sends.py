"""The sends of a thread or invoice: one place, a slot, per send key, and the permit in it."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from ledger.domain.permit import FREED, State
from ledger.domain.value import value


@value
class SendRecord:
    """The permit that holds a slot; `counts_at` (UTC) is where it counts from in a window.

    `overtaken` tells what happened since a grant that takes it back (design D6); `counts` is false
    where a freed permit counts in no window any more.
    """

    permit_id: str
    state: State
    sender: str
    counts_at: datetime
    provider_message_id: str | None = None
    overtaken: str | None = None
    counts: bool = True


@dataclass(slots=True)
class SendBook:
    """Which permit holds which slot; a freed permit gives its slots up. Changed by events only."""

    sends: dict[str, SendRecord] = field(default_factory=dict)
    rejections: dict[str, int] = field(default_factory=dict)

    def permit(self, slot: str, permit_id: str, sender: str, at: datetime) -> None:
        """A permit takes the slot."""
        self.sends[slot] = SendRecord(permit_id, State.GRANTED, sender, at)

    def redeem(self, slot: str, permit_id: str, at: datetime) -> None:
        """The holder is about to hand the mail over."""
        held = self.sends.get(slot)
        if held is not None and held.permit_id == permit_id:
            self.sends[slot] = replace(held, state=State.REDEEMED, counts_at=at)

    def overtake(self, why: str) -> None:
        """Mark live permits as granted under facts that no longer hold."""
        for slot, held in self.sends.items():
            if held.state is State.GRANTED and held.overtaken is None:
                self.sends[slot] = replace(held, overtaken=why)

    def settle(self, slot: str, record: SendRecord, rejections: int) -> None:
        """The permit came to its end; a mail that went out after all takes a free slot back."""
        if rejections:
            self.rejections[slot] = rejections
        held = self.sends.get(slot)
        mine = held is not None and held.permit_id == record.permit_id
        if record.state in FREED:
            if mine:
                del self.sends[slot]
            if record.state is State.REVOKED and record.counts:
                self.sends[repeat_slot(slot, record.permit_id)] = record
        elif mine or held is None or held.state is not State.SENT:
            self.sends[slot] = record


def repeat_slot(slot: str, permit_id: str) -> str:
    """The place of a mail beside the first one of its slot (design D8, D14).

    That is a human's deliberate repeat, or one taken back that may have been out. It counts in the
    windows like its slot, and no send key ever names it: permit ids are ours.
    """
    return f"{slot} repeated by {permit_id}"
