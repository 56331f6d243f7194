"""How long tests wait: against what hangs, since a busy machine may hold anything up."""

import time
from collections.abc import Callable

PATIENCE_S = 600.0


def until(condition: Callable[[], object], every_s: float = 0.005) -> None:
    """Returns once the condition holds; fails if that takes unreasonably long."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "what is waited for did not happen"
        time.sleep(every_s)
