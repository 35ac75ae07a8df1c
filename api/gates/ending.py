"""How a gate learns that it is to end: by SIGTERM, or by Ctrl-C."""

import asyncio
import signal
import sys
import threading


def set_when_told_to_end(told: asyncio.Event) -> None:
    """Set the event at SIGTERM or SIGINT, so that what is under way is still reported.

    Python takes signals in the main thread alone, and asyncio takes none on Windows: there the
    caller ends the gate, or Ctrl-C ends the program.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
