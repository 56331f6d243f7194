"""Spreads groups along links and through thread pools."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    CAUSES,
    HANDS_OVER,
    POOL_START,
    POOL_STOP,
    SAME_MOMENT,
)
from cython.cimports.tbprof.kernels.searches import first_not_below
from cython.cimports.tbprof.kernels.types import (
    Bytes,
    Int8s,
    Int32s,
    Ints,
    OutFlags,
    OutInt32s,
    OutInts,
    OutIntTable,
    i64,
)


@cython.final
@cython.cclass
class CauseLinks:
    """Links from causes to their consumers by bucket, and which buckets have been followed."""

    row: Ints
    bucket: Ints
    first: Ints
    consumer: Ints
    is_followed: OutFlags

    def __init__(
        self, row: Ints, bucket: Ints, first: Ints, consumer: Ints, is_followed: OutFlags
    ) -> None:
        self.row = row
        self.bucket = bucket
        self.first = first
        self.consumer = consumer
        self.is_followed = is_followed


@cython.final
@cython.cclass
class Pool:
    """Hand-overs to a thread pool with their regions, windows, and which regions are queued."""

    row: Ints
    time_ps: Ints
    first: Ints
    until: Ints
    begin: Ints
    mark: Ints
    stop: Ints
    start_ps: Ints
    stop_ps: Ints
    starts_before: Ints
    ends_by: Ints
    is_queued: OutFlags

    def __init__(
        self, row: Ints, time_ps: Ints, first: Ints, until: Ints, begin: Ints, mark: Ints,
        stop: Ints, start_ps: Ints, stop_ps: Ints, starts_before: Ints, ends_by: Ints,
        is_queued: OutFlags,
    ) -> None:  # fmt: skip
        self.row = row
        self.time_ps = time_ps
        self.first = first
        self.until = until
        self.begin = begin
        self.mark = mark
        self.stop = stop
        self.start_ps = start_ps
        self.stop_ps = stop_ps
        self.starts_before = starts_before
        self.ends_by = ends_by
        self.is_queued = is_queued


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(region=i64)
def _hand_over(at: i64, number: i64, pool: Pool, queue: OutInts, tail: i64) -> i64:
    """Queues the regions of one hand-over that belong to the group, as -1 - region."""
    for region in range(pool.first[at], pool.until[at]):
        if (
            not pool.is_queued[region]
            and pool.time_ps[at] <= pool.start_ps[region]
            and pool.start_ps[region] < pool.starts_before[number]
            and pool.stop_ps[region] <= pool.ends_by[number]
        ):
            pool.is_queued[region] = True
            queue[tail] = -1 - region
            tail += 1
    return tail


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(at=i64, bucket=i64, end=i64, index=i64, mark=i64, pool_at=i64, row=i64)
def _fill_group(
    item: i64,
    number: i64,
    group: OutInt32s,
    last: Int32s,
    flag: Bytes,
    cause: CauseLinks,
    pool: Pool,
    queue: OutInts,
    tail: i64,
) -> i64:
    """Assigns a group to an event and its descendants, or to all events within a region.

    The events that they cause are queued, each bucket only once. Returns the new end of the queue.
    Grouped events are skipped with their descendants: everything that they reach has a group.
    """
    if item >= 0:
        if group[item] >= 0:
            return tail
        group[item] = -1  # a separate event that a link leads to
        row = item
        end = last[item] + 1
        mark = item
    else:
        row = pool.begin[-1 - item]
        end = pool.stop[-1 - item]
        mark = pool.mark[-1 - item]
    at = -1  # where the links and hand-overs of the next rows are; unknown after a jump
    pool_at = -1
    while row < end:
        if group[row] != -1:
            row = last[row] + 1
            at = -1
            pool_at = -1
            continue
        if last[row] >= end:  # continues after the region
            if row >= mark:
                break
            row += 1
            at = -1
            pool_at = -1
            continue
        group[row] = number
        if flag[row] & CAUSES:
            if at < 0:
                at = first_not_below(cause.row, 0, cause.row.shape[0], row)
            while at < cause.row.shape[0] and cause.row[at] == row:
                bucket = cause.bucket[at]
                if not cause.is_followed[bucket]:
                    cause.is_followed[bucket] = True
                    for index in range(cause.first[bucket], cause.first[bucket + 1]):
                        if group[cause.consumer[index]] < 0:
                            queue[tail] = cause.consumer[index]
                            tail += 1
                at += 1
        if flag[row] & HANDS_OVER:
            if pool_at < 0:
                pool_at = first_not_below(pool.row, 0, pool.row.shape[0], row)
            tail = _hand_over(pool_at, number, pool, queue, tail)
            pool_at += 1
        row += 1
    return tail


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(groups=i64, index=i64, own=i64, tail=i64)
def spread_groups(
    seeds: Ints,
    given: Ints,
    group: OutInt32s,
    last: Int32s,
    flag: Bytes,
    cause: CauseLinks,
    pool: Pool,
    queue: OutInts,
    number: OutInts,
) -> cython.void:
    """Spreads the group `given` [m] of hand-overs, or new ones (-1) of rows; writes `number`."""
    with cython.nogil:
        groups = 0
        for index in range(seeds.shape[0]):
            tail = 0
            own = given[index]
            if own >= 0:
                tail = _hand_over(seeds[index], own, pool, queue, tail)
            elif group[seeds[index]] < 0:
                own = groups
                groups += 1
                queue[0] = seeds[index]
                tail += 1
            number[index] = own
            while tail > 0:  # the queued events, and what they queue in turn
                tail -= 1
                tail = _fill_group(queue[tail], own, group, last, flag, cause, pool, queue, tail)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    after=i64, begin=i64, depth=i64, found=i64, is_done=cython.bint, line=i64, mark=i64, row=i64
)
def find_regions(
    first_event: Ints, kind: Int8s, start_ps: Ints, group: Int32s, last: Int32s, offset: i64,
    opened: OutInts, out: OutIntTable,
) -> i64:  # fmt: skip
    """Writes a column (begin, mark, stop) of `out` for each region with events without a group.

    A region's mark is row `mark`; events that begin at the same time may be before it, of which
    `SAME_MOMENT` are considered. Inner regions come before outer ones. Returns how many there are.
    """
    with cython.nogil:
        found = 0
        for line in range(first_event.shape[0] - 1):
            depth = 0
            for row in range(first_event[line], first_event[line + 1]):
                if kind[row] == POOL_START:
                    opened[depth] = row
                    depth += 1
                if kind[row] != POOL_STOP or depth == 0:
                    continue
                depth -= 1
                mark = opened[depth]
                begin = mark
                while (
                    begin > first_event[line]
                    and mark - begin < SAME_MOMENT
                    and start_ps[begin - 1] == start_ps[mark]
                ):
                    begin -= 1
                # Most regions are empty, or contain one event that already has a group by contexts.
                after = mark + 1
                is_done = after == row or (group[after] >= 0 and last[after] - offset + 1 >= row)
                if not is_done or begin < mark:
                    out[0, found] = begin
                    out[1, found] = mark
                    out[2, found] = row
                    found += 1
        return found


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, end=i64, index=i64, region=i64, region_end=i64, wanted=i64)
def match_records(
    record_order: Ints, record_id: Ints, region_id: Ints, crowd: i64, first: OutInts, until: OutInts
) -> cython.void:
    """The regions of each record; `region_id` ascends, and so do records in `record_order`."""
    with cython.nogil:
        at = 0
        region = 0
        while at < record_order.shape[0] and region < region_id.shape[0]:
            wanted = record_id[record_order[at]]
            if wanted < region_id[region]:
                at += 1
            elif wanted > region_id[region]:
                region += 1
            else:
                end = at
                while end < record_order.shape[0] and record_id[record_order[end]] == wanted:
                    end += 1
                region_end = region
                while region_end < region_id.shape[0] and region_id[region_end] == wanted:
                    region_end += 1
                if end - at < crowd or region_end - region < crowd:
                    for index in range(at, end):
                        first[record_order[index]] = region
                        until[record_order[index]] = region_end
                at = end
                region = region_end
