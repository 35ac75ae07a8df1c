"""Several worker processes on one socket, and that all of them take their time to start."""

import contextlib
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker

from uvicorn.supervisors import Multiprocess

CHECK_SECONDS = 120
"""How long a worker may be silent before it is taken for hung, and killed.

uvicorn's 5 seconds are too few for one that still imports the service: on two cores at a load of 20
eight workers took 45 seconds, and a worker that is killed meanwhile begins again.
"""
_CTRL_C = {signal.SIGINT}


class Workers(Multiprocess):
    """uvicorn's supervisor; Ctrl-C waits for a worker that starts until it can end in order.

    A terminal sends it to every process. One that still imports would print a traceback.
    """

    def init_processes(self) -> None:
        """Start the workers."""
        with _ctrl_c_held_back():
            super().init_processes()

    def keep_subprocess_alive(self) -> None:
        """Replace workers that have died or hang."""
        with _ctrl_c_held_back():
            super().keep_subprocess_alive()

    def restart_all(self) -> None:
        """Replace each worker, for SIGHUP."""
        with _ctrl_c_held_back():
            super().restart_all()

    def handle_ttin(self) -> None:
        """Start one more worker."""
        with _ctrl_c_held_back():
            super().handle_ttin()


@contextlib.contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Processes that start within do not hear Ctrl-C until they call `hear_ctrl_c`."""
    # Where it starts with the first worker, it lets the signal through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def hear_ctrl_c() -> None:
    """Hear Ctrl-C in a worker, once its server can end in order; one of before is heard now."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _CTRL_C)
