"""The sends of a thread or invoice, one place ('slot') per send key, and the permits that hold them."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from ledger.domain.permit import FREED, State


@dataclass(frozen=True, slots=True)
class SendRecord:
    """The permit that holds a slot; `counts_at` (UTC) is where it counts from in a window."""

    permit_id: str
    state: State
    sender: str
    counts_at: datetime
    provider_message_id: str | None = None


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

    def settle(self, slot: str, record: SendRecord, rejections: int) -> None:
        """The permit came to its end; a mail that went out after all takes a free slot back."""
        if rejections:
            self.rejections[slot] = rejections
        held = self.sends.get(slot)
        mine = held is not None and held.permit_id == record.permit_id
        if record.state in FREED:
            if mine:
                del self.sends[slot]
        elif mine or held is None or held.state is not State.SENT:
            self.sends[slot] = record
