"""Whether several executions that stand for steps may be parts of one."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

# Three executions of another program, each after as many of the main one, are no chance. Helpers
# that take less than this share of the main program's time are no update of a model.
_LEAST = 3
_NOTABLE = 0.02


def doubt_of_rounds(
    name: str,
    start_ps: NDArray[np.int64],
    each_ps: float,
    others: Mapping[str, tuple[NDArray[np.int64], float]],
) -> list[str]:
    """That executions of a program may be parts of steps: each few are followed by one of another.

    `start_ps`, ascending, are when the program `name` began, `each_ps` is what one execution takes;
    `others` are the same of other programs, by name.
    """
    for other, (starts, time) in others.items():
        count = _between(start_ps, starts)
        if count > 1 and time >= _NOTABLE * each_ps:
            text = (
                f"{other} runs after every {count} executions of {name}. If these add up gradients"
            )
            text += (
                f" for one update, a step is {count} of them. The trace does not say so: mark the"
            )
            return [f"{text} steps to be sure."]
    return []


def _between(main: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    """How many of `main` lie between two of `other`, both ascending; 0 where that differs."""
    if other.size < _LEAST:
        return 0
    before = np.searchsorted(main, other)
    counts = np.diff(before)
    count = int(counts[0])
    is_regular = bool((counts == count).all()) and max(before[0], main.size - before[-1]) <= count
    return count if is_regular else 0
