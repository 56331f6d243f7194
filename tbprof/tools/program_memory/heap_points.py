"""A small sample of a series that shows its extremes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.values import unique


def points_of(values: NDArray[np.int64], begin: int, end: int, most: int) -> NDArray[np.int64]:
    """At most `most` places from `begin` to before `end`, ascending; all if they fit.

    Of equal parts of the series, the first least and the first largest value, and of the whole the
    first and the last. `most` is at least 4.
    """
    if end - begin <= most:
        return np.arange(begin, end)
    edges = np.linspace(begin, end, (most - 2) // 2 + 1).astype(np.int64)
    kept = [begin, end - 1]
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        part = values[first:last]
        kept += [first + int(part.argmin()), first + int(part.argmax())]
    return unique(np.array(kept, np.int64))
