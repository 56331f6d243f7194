"""Instructions of compiled programs on a CPU whose work outlasts their events.

XLA may pass an instruction's work to a pool of threads and go on to the next one. Then the event
ends early, and the thread that finishes the work records `end: NAME` in the context of the event.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import host_events
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.spans.layers import Spans
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.op_names import CONTROL
from tbprof.base import names
from tbprof.base.caches import computed_once
from tbprof.base.records import dataclass
from tbprof.base.values import take_rows, union
from tbprof.events.space import Events, Plane

_NOTHING = np.zeros(0, np.int64)
_POOL_MARKS = (names.POOL_START, names.POOL_STOP)


@dataclass(frozen=True, slots=True)
class LateEnds:
    """The events [n] of a host whose work went on after them.

    `source` and `type` are those of the event, `start_ps` is when it ended, and `late_ps` how long
    the work went on. `own_ps` is the same, but 0 for loops, calls and branches, which wait for the
    instructions in them.
    """

    source: NDArray[np.int64]
    type: NDArray[np.int32]
    start_ps: NDArray[np.int64]
    late_ps: NDArray[np.int64]
    own_ps: NDArray[np.int64]

    def among(self, events: Events) -> tuple[NDArray[np.int64], LateEnds]:
        """(rows of `events`, late ends) of those that are among some of the host's events."""
        if not self.source.size or not len(events):
            return _NOTHING, NO_LATE_ENDS
        order = np.argsort(events.source)
        position = np.searchsorted(events.source, self.source, sorter=order)
        row = order[np.minimum(position, order.size - 1)]
        is_there = np.flatnonzero(events.source[row] == self.source)
        return row[is_there], take_rows(self, is_there)

    @property
    def spans(self) -> Spans:
        """The times after the events."""
        return self.start_ps, self.start_ps + self.late_ps


NO_LATE_ENDS = LateEnds(_NOTHING, np.zeros(0, np.int32), _NOTHING, _NOTHING, _NOTHING)


@computed_once
def find_late_ends(plane: Plane) -> LateEnds:
    """The late ends of a host's events, found once.

    Each belongs to the event with the same name and context. Most events contain their end, since
    their work is done by then. The thread that finishes the work may run the next instructions
    before it records the end.

        main |dot...tanh...........
        pool |......(dot)add.e.....    e: "end: dot"; dot goes on until add begins
    """
    if not name_families(plane).classify(_is_end, np.bool_).any():
        return NO_LATE_ENDS
    events = host_events(plane, is_kept=False)
    name, row, end = _ended_events(events)
    started = events.start_ps[row] + events.duration_ps[row]
    is_late = np.flatnonzero(events.start_ps[end] > started)
    if not is_late.size:
        return NO_LATE_ENDS
    row, end, started = row[is_late], end[is_late], started[is_late]
    late_ps = _done_ps(events, row, end, name) - started
    keeps = late_ps > 0
    row, started, late_ps = row[keeps], started[keeps], late_ps[keeps]
    type_ = events.type[row]
    is_control = [text.partition(".")[0] in CONTROL for text in [*plane.types.full_names, ""]]
    own_ps = np.where(np.array(is_control, np.bool_)[type_], 0, late_ps)
    return LateEnds(events.source[row], type_, started, late_ps, own_ps)


def _is_end(text: str) -> bool:
    return text.startswith(names.THUNK_END)


def _ended_events(
    events: Events,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """([types + 1] the number of each instruction with an end; rows of events; end of each)."""
    name_of_event, name_of_end = _number_names(events.plane)
    end, end_keys = _contexts(events, name_of_end, (names.CONSUMER_ID, names.CONSUMER_TYPE))
    if not end.size:
        return name_of_event, _NOTHING, _NOTHING
    row, keys = _contexts(events, name_of_event, (names.PRODUCER_ID, names.PRODUCER_TYPE))
    code, first = group_rows([np.concatenate(pair) for pair in zip(keys, end_keys, strict=True)])
    code, end_code = code[: row.size], code[row.size :]
    # A damaged file may use a context twice: then it does not say which event ended.
    is_clear = np.bincount(code, minlength=first.size) == 1
    is_clear &= np.bincount(end_code, minlength=first.size) == 1
    end_of = np.zeros(first.size, np.int64)
    end_of[end_code] = end
    keeps = is_clear[code]
    return name_of_event, row[keeps], end_of[code[keeps]]


def _number_names(plane: Plane) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[types + 1] the number of each instruction with an end, and of what each end ends; or -1."""
    texts = [*plane.types.full_names, ""]
    ended = [text.removeprefix(names.THUNK_END) if _is_end(text) else None for text in texts]
    number = {name: index for index, name in enumerate(ended) if name is not None}
    return (
        np.array([number.get(text, -1) for text in texts], np.int64),
        np.array([-1 if name is None else number[name] for name in ended], np.int64),
    )


def _contexts(
    events: Events, name: NDArray[np.int64], context: tuple[str, str]
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """(rows with a name and a context, [name, id and type of the context] of each)."""
    rows = events.rows_of(name >= 0)
    if not rows.size or not {*context} <= events.plane.stat_names:
        return _NOTHING, [_NOTHING] * 3
    stats = events.stats(context, rows)
    id_, type_ = (stats[key] for key in context)
    has_both = id_.is_integer & type_.is_integer
    rows = rows[has_both]
    return rows, [name[events.type[rows]], id_.bits[has_both], type_.bits[has_both]]


def _done_ps(
    events: Events, row: NDArray[np.int64], end: NDArray[np.int64], name: NDArray[np.int64]
) -> NDArray[np.int64]:
    """[n] when the work of each event was done, its `end` being on any thread.

    At the end, or at the first instruction before it in the same task of the pool.
    """
    families = name_families(events.plane)
    marks = events.rows_of(families.classify(_POOL_MARKS.__contains__, np.bool_))
    marks = union(marks, events.first_event - 1)  # the rows before the first of each line
    task = marks[np.searchsorted(marks, end) - 1]
    runs = families.classify(names.RUNS_PROGRAM.__eq__, np.bool_) | (name >= 0)
    instructions = np.append(events.rows_of(runs), len(events))
    following = instructions[np.searchsorted(instructions, task, side="right")]
    done = events.start_ps[np.minimum(following, end)]
    # What ran in the task of the event itself says nothing.
    event_end = events.start_ps[row] + events.duration_ps[row]
    return np.where((task < row) & (row < end), event_end, done)
