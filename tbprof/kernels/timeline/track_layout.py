"""The rows of events, and the spans of runs and sections."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    DEPTH_BLOCK,
    MOST_DEPTHS,
    NEVER,
)
from cython.cimports.tbprof.kernels.types import (
    Flags,
    Int32s,
    Ints,
    OutFlagTable,
    OutInt32s,
    OutInts,
    OutUint16s,
    Uint16s,
    i64,
)


@cython.final
@cython.cclass
class TrackFacts:
    """The output for each track: its number of rows, busy time and end.

    `too_deep` counts its events on the last row that would need a deeper one.
    """

    rows: OutInt32s
    busy: OutInts
    end: OutInts
    too_deep: OutInts

    def __init__(self, rows: OutInt32s, busy: OutInts, end: OutInts, too_deep: OutInts) -> None:
        self.rows = rows
        self.busy = busy
        self.end = end
        self.too_deep = too_deep


@cython.final
@cython.cclass
class OpenDepths:
    """Per depth the end of its last event; per block of depths the latest and earliest of these."""

    end: OutInts
    latest: OutInts
    earliest: OutInts

    def __init__(self, end: OutInts, latest: OutInts, earliest: OutInts) -> None:
        self.end = end
        self.latest = latest
        self.earliest = earliest


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64,
    before=i64,
    begin=i64,
    beyond=i64,
    block=i64,
    covered=i64,
    deepest=i64,
    depth_=i64,
    earliest=OutInts,
    end=i64,
    end_at=OutInts,
    found=i64,
    latest=OutInts,
    least=i64,
    other=i64,
    row=i64,
    top=i64,
    total=i64,
    track=i64,
    used=i64,
)
def find_depths(
    begins: Ints,
    ends: Ints,
    start: Ints,
    duration: Ints,
    depth: OutUint16s,
    facts: TrackFacts,
    opened: OpenDepths,
) -> cython.void:
    """Fills in the depth of each event and the facts of each track, see `timeline.model.layout`.

    `opened` is scratch.
    """
    end_at, latest, earliest = opened.end, opened.latest, opened.earliest
    with cython.nogil:
        at = 0
        deepest = MOST_DEPTHS - 1
        for depth_ in range(MOST_DEPTHS):
            end_at[depth_] = NEVER
        for block in range(latest.shape[0]):
            latest[block] = NEVER
            earliest[block] = NEVER
        for track in range(begins.shape[0]):
            used = 0  # depths that any event of the track has
            top = 0  # depths up to the deepest event in progress
            covered = NEVER
            total = 0
            beyond = 0
            for row in range(begins[track], ends[track]):
                begin = start[row]
                end = begin + duration[row]
                if end > covered:
                    total += end - max(begin, covered)
                    covered = end
                while top > 0 and end_at[top - 1] <= begin:
                    top -= 1
                # The deepest event that contains this one.
                found = top - 1
                while found >= 0:
                    if (
                        found % DEPTH_BLOCK == DEPTH_BLOCK - 1
                        and latest[found // DEPTH_BLOCK] < end
                    ):
                        found -= DEPTH_BLOCK
                    elif end_at[found] < end or end_at[found] <= begin:
                        found -= 1
                    else:
                        break
                # The first free depth below it.
                found += 1
                while found < top:
                    if found % DEPTH_BLOCK == 0 and earliest[found // DEPTH_BLOCK] > begin:
                        found += DEPTH_BLOCK
                    elif end_at[found] > begin:
                        found += 1
                    else:
                        break
                found = min(found, top)
                if found > deepest:
                    found = deepest
                    beyond += 1
                before = end_at[found]
                end_at[found] = max(before, end)
                block = found // DEPTH_BLOCK
                latest[block] = max(latest[block], end)
                if before == earliest[block]:
                    least = end_at[block * DEPTH_BLOCK]
                    for other in range(block * DEPTH_BLOCK + 1, (block + 1) * DEPTH_BLOCK):
                        least = min(least, end_at[other])
                    earliest[block] = least
                if end > begin:
                    top = max(top, found + 1)
                used = max(used, found + 1)
                depth[at] = found
                at += 1
            facts.rows[track] = used
            facts.busy[track] = total
            facts.end[track] = covered
            facts.too_deep[track] = beyond
            for depth_ in range(used):
                end_at[depth_] = NEVER
            for block in range((used + DEPTH_BLOCK - 1) // DEPTH_BLOCK):
                latest[block] = NEVER
                earliest[block] = NEVER


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(_=i64, at=i64, row=i64, track=i64)
def count_depths(
    begins: Ints, ends: Ints, rows: Int32s, depth: Uint16s, counted: OutInts
) -> cython.void:
    """Counts the events of each row, in the entry after the row's."""
    with cython.nogil:
        at = 0
        row = 1  # shifted by one, so that cumulative sums are where rows begin
        for track in range(begins.shape[0]):
            for _ in range(ends[track] - begins[track]):
                counted[row + depth[at]] += 1
                at += 1
            row += rows[track]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, event=i64, lies_on=i64, row=i64, track=i64)
def scatter_column(
    begins: Ints,
    ends: Ints,
    rows: Int32s,
    depth: Uint16s,
    place: OutInts,
    column: Ints,
    ordered: OutInts,
) -> cython.void:
    """Writes a column in the order of rows; `place` is the next position of each row."""
    with cython.nogil:
        at = 0
        row = 0
        for track in range(begins.shape[0]):
            for event in range(begins[track], ends[track]):
                lies_on = row + depth[at]
                ordered[place[lies_on]] = column[event]
                place[lies_on] += 1
                at += 1
            row += rows[track]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, event=i64, lies_on=i64, row=i64, track=i64)
def scatter_types(
    begins: Ints,
    ends: Ints,
    rows: Int32s,
    depth: Uint16s,
    place: OutInts,
    type_: Int32s,
    type_of: Int32s,
    ordered: OutInt32s,
) -> cython.void:
    """Writes the types in the order of rows, mapped by `type_of`."""
    with cython.nogil:
        at = 0
        row = 0
        for track in range(begins.shape[0]):
            for event in range(begins[track], ends[track]):
                lies_on = row + depth[at]
                ordered[place[lies_on]] = type_of[type_[event]]
                place[lies_on] += 1
                at += 1
            row += rows[track]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    begin=i64, candidate=i64, chosen=i64, end=i64, event=i64, line=i64, open_=i64, used=i64
)
def assign_lanes(
    first_event: Ints,
    start: Ints,
    duration: Ints,
    is_apart: Flags,
    top: OutInts,
    below: OutInts,
    lane: OutInt32s,
) -> cython.void:
    """Fills in the lane [n] of each event.

    `top` [lanes] is the innermost open event of each lane, `below` [n] the event that encloses it.
    """
    with cython.nogil:
        for line in range(first_event.shape[0] - 1):
            used = 0
            for event in range(first_event[line], first_event[line + 1]):
                if is_apart.shape[0] and is_apart[event]:
                    continue
                begin = start[event]
                end = begin + duration[event]
                chosen = top.shape[0] - 1
                for candidate in range(used):
                    open_ = top[candidate]
                    while open_ >= 0 and start[open_] + duration[open_] <= begin:
                        open_ = below[open_]
                    top[candidate] = open_
                    if open_ < 0 or start[open_] + duration[open_] >= end:
                        chosen = candidate
                        break
                else:
                    if used < top.shape[0]:
                        top[used] = -1
                        chosen = used
                        used += 1
                below[event] = top[chosen]
                top[chosen] = event
                lane[event] = chosen


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(end=i64, opened=i64, row=i64, rows=i64, track=i64)
def unite_tracks(
    first: Ints, last: Ints, start: Ints, duration: Ints, out_start: OutInts, out_end: OutInts
) -> i64:
    """Writes the disjoint spans of each track, one track after another; returns their number."""
    with cython.nogil:
        rows = 0
        for track in range(first.shape[0]):
            opened = rows  # spans before it are other tracks'
            for row in range(first[track], last[track]):
                if duration[row] <= 0:
                    continue
                end = start[row] + duration[row]
                if rows > opened and start[row] <= out_end[rows - 1]:
                    out_end[rows - 1] = max(out_end[rows - 1], end)
                else:
                    out_start[rows] = start[row]
                    out_end[rows] = end
                    rows += 1
        return rows


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(before=i64, goes_on=cython.bint, row=i64, runs=i64)
def join_pieces(
    line: Ints,
    start: Ints,
    end: Ints,
    part: Ints,
    key: Ints,
    longest_gap: i64,
    out: OutInts,
    out_start: OutInts,
    out_end: OutInts,
) -> i64:
    """Writes the first piece, start and end of each run; returns the number of runs."""
    with cython.nogil:
        runs = 0
        for row in range(line.shape[0]):
            before = row - 1
            goes_on = (
                row > 0
                and key[row] >= 0
                and key[row] == key[before]
                and line[row] == line[before]
                and part[row] == part[before]
                and start[row] - out_end[runs - 1] <= longest_gap
            )
            if goes_on:
                out_end[runs - 1] = max(out_end[runs - 1], end[row])
            elif key[row] >= 0:
                out[runs] = row
                out_start[runs] = start[row]
                out_end[runs] = end[row]
                runs += 1
        return runs


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(row=i64, spans=i64)
def unite_spans(start: Ints, end: Ints, key: Ints, out: OutInts, out_end: OutInts) -> i64:
    """Merges overlapping spans, ordered by (key, start): writes the first row and the last end."""
    with cython.nogil:
        spans = 0
        for row in range(start.shape[0]):
            if spans > 0 and key[row] == key[row - 1] and start[row] < out_end[spans - 1]:
                out_end[spans - 1] = max(out_end[spans - 1], end[row])
            else:
                out[spans] = row
                out_end[spans] = end[row]
                spans += 1
        return spans


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(line=i64, of_line=i64, row=i64, type_row=i64)
def survey_types(
    first_event: Ints, kind: Ints, type_: Int32s, is_call: Flags, used: OutFlagTable, calls: OutInts
) -> cython.void:
    """Marks the types in use on lines of each kind, and counts the calls on each line."""
    with cython.nogil:
        for line in range(kind.shape[0]):
            of_line = kind[line]
            for row in range(first_event[line], first_event[line + 1]):
                type_row = type_[row]  # the last for -1
                used[of_line, type_row] = True
                if is_call[type_row]:
                    calls[line] += 1
