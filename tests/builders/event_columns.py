"""Columns of events that tests write line by line."""

from collections.abc import Sequence

import numpy as np


def event_columns(lines: Sequence[Sequence[tuple[int, ...]]], count: int = 2) -> list[np.ndarray]:
    """Where lines begin, then `count` columns of their events, of which start and duration are two.

    Each line is by start, the longest first, as traces are read.
    """
    ordered = [sorted(line, key=lambda event: (event[0], -event[1])) for line in lines]
    first = np.cumsum([0, *map(len, ordered)]).astype(np.int64)
    flat = [event for line in ordered for event in line]
    return [first, *(np.array([event[at] for event in flat], np.int64) for at in range(count))]
