"""The window that a timeline opens with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# With this many steps, the first and the last are left out if completeness is unknown:
# the first warms up, the last is cut off.
_ENOUGH = 3


def median_step(
    start_ps: NDArray[np.int64],
    duration_ps: NDArray[np.int64],
    label: Sequence[str],
    is_whole: NDArray[np.bool_] | None = None,
) -> tuple[int, int, str] | None:
    """(begin, end, label) of the step of median length (the shorter of two); None without steps.

    Only complete steps count if there are any; the first of equals. Steps [n] are by start.
    """
    rows = np.flatnonzero(duration_ps > 0)
    if is_whole is None:
        rows = rows[1:-1] if rows.size >= _ENOUGH else rows
    elif is_whole[rows].any():
        rows = rows[is_whole[rows]]
    if not rows.size:
        return None
    order = rows[np.argsort(duration_ps[rows], kind="stable")]
    row = int(order[(order.size - 1) // 2])
    begin = int(start_ps[row])
    return begin, begin + int(duration_ps[row]), label[row]
