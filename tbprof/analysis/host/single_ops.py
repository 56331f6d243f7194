"""Ops that a program dispatches individually: when, how many, and which."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import eager_calls, host_threads
from tbprof.analysis.host.host_roles import host_types, is_jitted
from tbprof.analysis.spans.layers import unite
from tbprof.analysis.spans.nesting import inherit, outermost
from tbprof.analysis.vocabulary.input_names import fetches_batch
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.analysis.vocabulary.python_frames import is_own
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.base.values import is_in, join_columns, median, unique
from tbprof.events.space import Events, Plane, Space

# A call of one op takes microseconds, and so does Python between two of them, unless the thread is
# preempted.
LONGEST_USUAL_PS = 10**9
LONGEST_GAP_PS = 4 * 10**9
# Runs that are at most this far apart may be one run that was delayed.
_LONGEST_DELAY_PS = 10**11
# A call that took longer than this did something else, such as compiling.
LONGEST_PS = 10**10
FEWEST_CALLS = 16
# A step that is one function also makes a few other calls, or is a single small call.
FEWEST_PER_STEP = 4


@dataclass(frozen=True, slots=True)
class SingleOps:
    """Runs of consecutive calls on one thread, each of one op, or of a program as small as one.

    A row [n] is a run of `calls` from `start_ps` to `end_ps` (from the start of the trace),
    including the Python code between them; `called_ps` is the time in the calls themselves. Ordered
    by start.

    `name` and `name_calls` are by op [m], most frequent first. From `sent_start_ps` to
    `sent_end_ps` [k], ascending, these calls sent their arguments to the device.
    """

    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    calls: NDArray[np.int64]
    called_ps: NDArray[np.int64]
    name: list[str]
    name_calls: NDArray[np.int64]
    sent_start_ps: NDArray[np.int64]
    sent_end_ps: NDArray[np.int64]

    def is_many(self, steps: int) -> bool:
        """Whether there are at least `FEWEST_PER_STEP` calls for each step."""
        return int(self.calls.sum()) >= FEWEST_PER_STEP * steps

    @property
    def sent_ps(self) -> int:
        """The time in which these calls sent data."""
        return int((self.sent_end_ps - self.sent_start_ps).sum())


def find_single_ops(space: Space, _programs: Programs) -> SingleOps:
    """The runs of at least `FEWEST_CALLS` calls on the threads of a host.

    Calls are `EagerExecute` events that run an op (TensorFlow), and calls of compiled functions
    that usually take less than a millisecond (JAX, which compiles each op separately). A run
    continues while at most four milliseconds pass between two calls. A larger function, the fetch
    of a batch, or a function of the program that takes most of the time between two calls splits
    the run into several rows.

        |a.b.a.b............a.b|   two runs: of four calls, and of two, with the gap too long
        |a.b.FFFFF.a.b|            one run of four calls, in two rows
    """
    runs = [run for plane in host_planes(space) for run in _runs(plane)]
    counts: dict[str, int] = {}
    for _, called in runs:
        for name, count in called.items():
            counts[name] = counts.get(name, 0) + count
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    start, end, calls, called_ps, sent_start, sent_end = join_columns(
        (columns for columns, _ in runs), 6
    )
    order = np.argsort(start, kind="stable")
    return SingleOps(
        start[order],
        end[order],
        calls[order],
        called_ps[order],
        ranked,
        np.array([counts[name] for name in ranked], np.int64),
        *unite(sent_start, sent_end),
    )


# (rows of calls of one op, the text of each, rows of other calls).
_Calls = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


# The runs of one kind of call: their starts, ends, numbers of calls and times in these, the starts
# and ends of what sent data; and how often each op is called.
_CallRuns = tuple[tuple[NDArray[np.int64], ...], dict[str, int]]


def _runs(plane: Plane) -> Iterator[_CallRuns]:
    families = name_families(plane)
    is_execute = families.classify(names.EAGER_EXECUTE.__eq__, np.bool_)
    is_call = families.classify(is_jitted, np.bool_)
    if not (is_execute | is_call).any():
        return
    events, parent = host_threads(plane)
    sends = host_types(events, has_device=False).role == Phase.INPUT
    own = events.rows_of(families.classify(is_own, np.bool_))
    for rows, labels, others in (
        _eager(plane, events, is_execute),
        _jitted(events, parent, is_call),
    ):
        duration = events.duration_ps[rows]
        rows, labels = rows[duration <= LONGEST_PS], labels[duration <= LONGEST_PS]
        if rows.size >= FEWEST_CALLS:
            yield _joined(events, parent, sends, rows, labels, others, own)


def _eager(plane: Plane, events: Events, is_execute: NDArray[np.bool_]) -> _Calls:
    rows = events.rows_of(is_execute)
    is_single, op = eager_calls(plane)
    is_op = is_single & (op >= 0)
    op_rows = unique(op[is_op])
    fetches = [
        code
        for code, text in zip(op_rows.tolist(), plane.strings.take(op_rows.tolist()), strict=True)
        if fetches_batch(text)
    ]
    is_op &= ~is_in(op, fetches)
    return rows[is_op], op[is_op].astype(np.int64), rows[~is_op]


def _jitted(events: Events, parent: NDArray[np.int32], is_call: NDArray[np.bool_]) -> _Calls:
    """Calls of small programs, which count as calls of one op, and the others.

    What is called while a function is traced is not dispatched.
    """
    rows = outermost(parent, events.by_type(is_call))
    kind, code = np.unique(events.type[rows], return_inverse=True)
    usual = [median(events.duration_ps[rows[code == type_code]]) for type_code in range(kind.size)]
    is_small = np.array(usual, np.float64) < LONGEST_USUAL_PS
    is_op = is_small[code] if rows.size else np.zeros(0, np.bool_)
    others, rows = rows[~is_op], rows[is_op]
    return rows, events.plane.types.name[events.type[rows]].astype(np.int64), others


def _joined(
    events: Events,
    parent: NDArray[np.int32],
    sends: NDArray[np.bool_],
    rows: NDArray[np.int64],
    text: NDArray[np.int64],
    others: NDArray[np.int64],
    own: NDArray[np.int64],
) -> _CallRuns:
    """Joins calls that closely follow each other on a thread into runs; short runs are dropped.

    A short run is kept if the runs around it are long enough on average, since it was delayed. A
    run is cut where one of the `others` lies between two calls, or where one of the program's `own`
    functions takes most of the time between them. `sends` [types] marks events that send data to a
    device.
    """
    start = events.start_ps[rows]
    end = start + events.duration_ps[rows]
    is_apart = np.ones((2, rows.size), np.bool_)
    is_apart[:, 1:] = np.diff(events.line[rows]) != 0
    limits = np.array([[LONGEST_GAP_PS], [_LONGEST_DELAY_PS]])
    is_apart[:, 1:] |= start[1:] - end[:-1] > limits
    is_first = is_apart[0]
    run, row = np.cumsum(is_apart, axis=1) - 1
    is_long = np.bincount(run) >= FEWEST_CALLS
    is_kept = is_long[run] | (np.bincount(row) >= FEWEST_CALLS * np.bincount(row[is_first]))[row]
    is_first[1:] |= np.diff(np.searchsorted(others, rows)) > 0
    is_first[1:] |= 2 * _longest_between(events, own, rows) > start[1:] - end[:-1]
    first = np.flatnonzero(is_first)
    calls = np.diff([*first.tolist(), rows.size])
    is_run, keeps = is_kept[first], is_kept
    code, count = np.unique(text[keeps], return_counts=True)
    texts = events.plane.strings.take(code.tolist())
    called = dict(zip(map(_op, texts), count.tolist(), strict=True))
    last = first + calls - 1
    is_call = np.full(len(events), -1, np.int64)
    is_call[rows[keeps]] = 1
    sent = np.flatnonzero((inherit(parent, is_call) == 1) & events.by_type(sends))
    columns = (
        start[first[is_run]],
        end[last[is_run]],
        calls[is_run].astype(np.int64),
        np.add.reduceat(end - start, first)[is_run],
        events.start_ps[sent],
        (events.start_ps + events.duration_ps)[sent],
    )
    return columns, called


def _longest_between(
    events: Events, own: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """[rows - 1] the duration of the longest of the `own` events between consecutive calls."""
    longest = np.zeros(rows.size, np.int64)
    before = np.searchsorted(rows, own) - 1
    is_between = (before >= 0) & (before < rows.size - 1)
    own, before = own[is_between], before[is_between]
    end = events.start_ps[own] + events.duration_ps[own]
    is_inside = (end <= events.start_ps[rows[before + 1]]) & (
        events.start_ps[own] >= (events.start_ps + events.duration_ps)[rows[before]]
    )
    np.maximum.at(longest, before[is_inside], events.duration_ps[own[is_inside]])
    return longest[:-1]


def _op(text: str) -> str:
    """`multiply` from `PjitFunction(multiply)`; other texts are unchanged."""
    return text[len(names.JITTED) : -1] if text.startswith(names.JITTED) else text
