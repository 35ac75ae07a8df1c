"""The queue of the commands that wait: bounded, and fair to every key by the work it brings."""

from collections import OrderedDict, deque
from enum import Enum
from typing import Generic, TypeVar

from ledger.domain.value import value

Item = TypeVar("Item")


class Rank(Enum):
    """Whose places a command takes: the callers', the operators', or those of the ledger itself."""

    CALLER = 1
    OPERATOR = 2
    LEDGER = 3


class Full(Exception):
    """There is no place: `of_caller` where the caller alone has used up what one caller may."""

    def __init__(self, of_caller: bool) -> None:
        super().__init__(of_caller)
        self.of_caller = of_caller


@value
class Places:
    """How many commands may wait.

    `callers` of all keys together, `a_caller` of one key. `operators` are places for what humans do
    in need; they are taken first. The ledger's own commands may fill `ledger` places in all.
    """

    callers: int
    a_caller: int
    operators: int
    ledger: int


class FairQueue(Generic[Item]):
    """A lane for each caller; commands are taken from the lanes in turn, one at a time.

    So a caller's share depends on how many others wait, and not on how many commands it sends in
    one request. Where all places are taken, a newcomer gets that of the newest command in the
    longest lane: what one caller brings too much costs nobody but itself.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._lanes: OrderedDict[str, deque[Item]] = OrderedDict()
        self._of_ledger: deque[Item] = deque()
        self._of_operators: deque[Item] = deque()
        self._of_callers = 0

    def __len__(self) -> int:
        return self._of_callers + len(self._of_ledger) + len(self._of_operators)

    def put(self, item: Item, caller: str, rank: Rank) -> Item | None:
        """Let a command wait; returns the one that lost its place to it. Raises Full."""
        if rank is Rank.LEDGER:
            if len(self) >= self._places.ledger:
                raise Full(of_caller=False)
            self._of_ledger.append(item)
            return None
        if rank is Rank.OPERATOR and len(self._of_operators) < self._places.operators:
            self._of_operators.append(item)
            return None
        lane = self._lanes.get(caller)
        length = len(lane) if lane is not None else 0
        if length >= self._places.a_caller:
            # Where one caller may have them all, nobody else's places are what is missing.
            raise Full(of_caller=self._places.a_caller < self._places.callers)
        displaced = None
        if self._of_callers >= self._places.callers:
            displaced = self._displaced_for(length)
        if lane is None:
            lane = self._lanes[caller] = deque()
        lane.append(item)
        self._of_callers += 1
        return displaced

    def take(self, most: int) -> list[Item]:
        """Up to `most` commands: the operators' first, then one of each lane in turn."""
        taken = _first_of(self._of_operators, most)
        own, lanes = self._of_ledger, self._lanes
        while own or lanes:
            room = most - len(taken)
            if room <= 0:
                break
            if not lanes:
                taken.extend(_first_of(own, room))
                break
            if own:
                taken.append(own.popleft())
            self._take_a_round(taken, most)
        return taken

    def _take_a_round(self, taken: list[Item], most: int) -> None:
        """One command of each lane; all that there is room for, where only one lane is left."""
        lanes = self._lanes
        if len(lanes) == 1 and not self._of_ledger:
            ((caller, lane),) = lanes.items()
            found = _first_of(lane, most - len(taken))
            taken.extend(found)
            self._of_callers -= len(found)
            if not lane:
                del lanes[caller]
            return
        for _ in range(min(len(lanes), most - len(taken))):
            caller, lane = lanes.popitem(last=False)
            taken.append(lane.popleft())
            self._of_callers -= 1
            if lane:
                lanes[caller] = lane

    def _displaced_for(self, length: int) -> Item:
        """The newest command of the longest lane. Raises Full for whose own lane is as long."""
        longest = max(self._lanes.values(), key=len)
        if len(longest) <= length + 1:
            raise Full(of_caller=False)
        self._of_callers -= 1
        return longest.pop()


def _first_of(lane: deque[Item], most: int) -> list[Item]:
    return [lane.popleft() for _ in range(min(most, len(lane)))]
