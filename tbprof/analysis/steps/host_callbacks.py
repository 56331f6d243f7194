"""The times when compiled programs and functions called back into Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.driving_thread import is_ahead
from tbprof.analysis.host.host_events import host_threads
from tbprof.analysis.host.runtime_names import is_callback
from tbprof.analysis.spans.groups import reduce_groups
from tbprof.analysis.spans.layers import Spans, unite_all
from tbprof.analysis.spans.nesting import nearest_above
from tbprof.analysis.vocabulary.input_names import is_python_function
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.python_frames import is_own
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.events.space import Plane, Space

# Pages that only show callbacks need no steps.
_find_step_bounds = Later("tbprof.analysis.steps.step_finding.find_step_bounds")


@dataclass(frozen=True, slots=True)
class HostCallbacks:
    """When any thread of a host was in a callback [n], from the start of the trace; ascending.

    A callback is an instruction of a program, or an op of a TensorFlow function (tf.py_function,
    tf.numpy_function) in a group and on no thread of tf.data. `name` holds the names of the
    events, sorted; `function` the program's Python frames inside them, longest total time first.
    """

    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    name: list[str]
    function: list[str]


def find_host_callbacks(space: Space, programs: Programs) -> HostCallbacks:
    """The callbacks of all threads of a host, united."""
    spans: list[Spans] = []
    called: set[str] = set()
    functions: dict[str, int] = {}
    for plane in host_planes(space):
        rows = _callbacks(space, programs, plane)
        if not rows.size:
            continue
        texts = plane.types.full_names
        events, parent = host_threads(plane)
        spans.append((events.start_ps[rows], events.start_ps[rows] + events.duration_ps[rows]))
        called.update(texts[kind] for kind in unique(events.type[rows]).tolist())
        calls = np.zeros(len(events), np.bool_)
        calls[rows] = True
        is_inside = nearest_above(parent, calls) >= 0
        _, spent, _, _ = reduce_groups(
            events.type[is_inside], events.duration_ps[is_inside], len(texts)
        )
        for kind in np.flatnonzero(spent).tolist():
            if is_own(texts[kind]):
                functions[texts[kind]] = functions.get(texts[kind], 0) + int(spent[kind])
    return HostCallbacks(
        *unite_all(spans),
        sorted(called),
        sorted(functions, key=lambda function: -functions[function]),
    )


def _callbacks(space: Space, programs: Programs, plane: Plane) -> NDArray[np.int64]:
    """The rows of a host plane's callbacks."""
    families = name_families(plane)
    events, _ = host_threads(plane)
    of_programs = events.rows_of(families.classify(is_callback, np.bool_))
    ops = events.rows_of(families.classify(is_python_function, np.bool_))
    if not ops.size:
        return of_programs
    line = np.searchsorted(events.first_event, ops, side="right") - 1
    ops = ops[~is_ahead(events)[line]]
    hosts = _find_step_bounds(space, programs).source.grouping.hosts
    of_steps = [ops[threads.group[ops] >= 0] for threads in hosts if threads.plane is plane]
    return unique(np.concatenate([of_programs, *of_steps]))
