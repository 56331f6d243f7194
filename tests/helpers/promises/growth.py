"""Whether work grows in proportion to its input, by processor time compared with processor time."""

import time
from collections.abc import Callable

TIMES = 16
_TRIES = 3
# On a busy machine caches are filled by others most of the time.
_MOST_TRIES = 12


def is_linear(prepare: Callable[[int], Callable[[], object]], size: int) -> bool:
    """Whether 16 times the input takes less than 128 times as long: squared growth takes 256.

    What no longer fits the processor's caches takes several times as long. `prepare(n)` makes an
    input of size n and returns the work on it. The least of several tries counts, and both sizes
    suffer alike from what else the machine does.
    """
    small = min(seconds(prepare(size // TIMES)) for _ in range(_TRIES))
    most = TIMES**2 / 2 * small
    return any(seconds(prepare(size)) < most for _ in range(_MOST_TRIES))


def seconds(work: Callable[[], object]) -> float:
    """The processor time of `work`."""
    began = time.process_time()
    work()
    return time.process_time() - began
