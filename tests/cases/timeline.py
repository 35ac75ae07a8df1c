"""Runs several scenarios on one test clock; each continues at the time that it waits for."""

import heapq
from collections.abc import Callable, Generator
from datetime import datetime
from itertools import count

from tests.support.service import Service

Story = Generator[str | datetime, None, None]
"""What somebody does: yields the moment to wait for, and goes on when the clock shows it."""


def play(service: Service, *stories: Story) -> None:
    """Tell the stories side by side, whoever's moment comes first; they share nothing but time."""
    turns = count()
    waiting: list[tuple[datetime, int, Story]] = []

    def go_on(story: Story) -> None:
        moment = next(story, None)
        if moment is not None:
            at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
            heapq.heappush(waiting, (at, next(turns), story))

    for story in stories:
        go_on(story)
    while waiting:
        at, _, story = heapq.heappop(waiting)
        service.move_clock(max(at, service.clock))
        assert service.clock == at, f"the clock is at {service.clock}, past {at}"
        go_on(story)


Pool = Callable[[str], Service]
"""Gives a service whose clock is not past the moment."""
