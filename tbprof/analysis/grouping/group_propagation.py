"""How groups spread from their roots: to all that a root encloses and all that it caused."""

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.context_links import Links
from tbprof.analysis.grouping.thread_pools import Pools
from tbprof.kernels.nesting import find_last_rows
from tbprof.kernels.spreading import Cause, Pool, spread_groups

# In a column of groups: none so far, and only links lead there, as the event nests in nothing.

# In a column of flags: the event is a row of the links, it is a row of the hand-overs.


def last_descendants(parent: NDArray[np.int64], offset: int, last: NDArray[np.int32]) -> None:
    """Writes the last row [n] that each event encloses (itself if none) into `last`.

    `offset` is added to all. Descendants follow their event without a gap, but for events apart.
    """
    find_last_rows(parent, offset, last)


def spread(
    roots: NDArray[np.int64],
    group: NDArray[np.int32],
    last: NDArray[np.int32],
    flag: NDArray[np.uint8],
    links: Links,
) -> NDArray[np.int64]:
    """The group [m] of each root, in their order from 0 on; -1 for those that have one already.

    Fills `group` [n], -1 or APART before: all events that a root encloses, all that those have
    caused by `links` (whose rows have the flag CAUSES), and so on, that no root before it has
    taken. What an event with a group leads to has one too, so that a root is never inside another
    of its level.
    """
    number = np.empty(roots.size, np.int64)
    queue = np.empty(links.consumer.size + 1, np.int64)
    none = np.zeros(0, np.int64)
    pool = Pool(none, none, none, none, none, none, none, none, none, none, none, np.zeros(0, bool))
    given = np.full(roots.size, -1, np.int64)
    spread_groups(roots, given, group, last, flag, _cause(links), pool, queue, number)
    return number


def spread_to_pools(
    group: NDArray[np.int32],
    last: NDArray[np.int32],
    flag: NDArray[np.uint8],
    links: Links,
    pools: Pools,
    windows: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Fills `group` with what the events of each group have handed to pools of threads.

    Only where that has no group, lower groups first. A region joins group g only if it starts
    before `windows[0][g]` and ends by `windows[1][g]`.
    """
    of_row = group[pools.row].astype(np.int64)
    seeds = np.flatnonzero((of_row >= 0) & (pools.first < pools.until))
    seeds = seeds[np.argsort(of_row[seeds], kind="stable")]
    given = of_row[seeds]
    queue = np.empty(links.consumer.size + pools.mark.size + 1, np.int64)
    pool = Pool(
        pools.row,
        pools.time_ps,
        pools.first,
        pools.until,
        pools.begin,
        pools.mark,
        pools.stop,
        pools.start_ps,
        pools.stop_ps,
        *windows,
        np.zeros(pools.mark.size, bool),
    )
    spread_groups(seeds, given, group, last, flag, _cause(links), pool, queue, given)


def _cause(links: Links) -> Cause:
    is_followed = np.zeros(links.first.size - 1, bool)
    return Cause(links.row, links.bucket, links.first, links.consumer, is_followed)
