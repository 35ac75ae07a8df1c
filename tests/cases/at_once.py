"""Makes calls concurrently, each in its own thread."""

import threading
from collections.abc import Callable

from tests.support.service import Answer


def at_once(*calls: Callable[[], Answer]) -> list[Answer]:
    """The answers, in the order in which they came."""
    answers: list[Answer] = []

    def make(call: Callable[[], Answer]) -> None:
        answers.append(call())

    threads = [threading.Thread(target=make, args=[call]) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
