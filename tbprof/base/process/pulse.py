"""What a process repeats in the background while it works."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pulse:
    """Calls `beat` each `every_s` from one thread, which ends when `beat` returns False.

    A thread for each piece of work, such as a timer, would take 1 % of the time of a small trace.
    """

    def __init__(self, beat: Callable[[], bool], every_s: float) -> None:
        self._beat = beat
        self._every_s = every_s
        self._lock = threading.Lock()
        self._is_beating = False

    def go_on(self) -> None:
        """Starts the thread unless it runs; called after what `beat` is about has changed."""
        with self._lock:
            if not self._is_beating:
                threading.Thread(target=self._run, name="tbprof-pulse", daemon=True).start()
                self._is_beating = True

    def _run(self) -> None:
        while True:
            time.sleep(self._every_s)
            with self._lock:
                if not self._beat():
                    self._is_beating = False
                    return
