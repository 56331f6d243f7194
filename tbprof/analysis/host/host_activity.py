"""The activity of host threads while no op runs: Python by function, tf.data, waits."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import HostThreads, executed_functions
from tbprof.analysis.host.host_roles import HostTypes, Role, role_without_device
from tbprof.analysis.vocabulary import input_names
from tbprof.analysis.vocabulary.name_families import name_families, remembered
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.analysis.vocabulary.python_frames import Wait, is_own, wait_of
from tbprof.base import names
from tbprof.base.columns import empty_column
from tbprof.base.records import dataclass
from tbprof.base.values import is_in
from tbprof.kernels.analysis.activity_sweep import follow_activity


class Activity(IntEnum):
    """What a thread does; if several threads are active at once, the first in this order counts.

    The thread that drives the program takes precedence over all others. WAIT has a low precedence,
    since the thread waits for another thread, or for a device.
    """

    PYTHON = 0
    ANNOTATION = 1
    COMPILATION = 2
    TF_DATA_FUNCTION = 3
    TF_DATA = 4
    TRANSFER = 5
    OPS = 6
    EAGER = 7
    RUNTIME = 8
    GARBAGE = 9
    MEMORY = 10
    WAIT = 11
    UNCOVERED = 12
    # These are found from times and precede all others: after device work, until the program goes
    # on; and before it, while devices have not started launched work. 13 is a code of the kernel.
    COMPLETION = 14
    UNSTARTED = 15


_SLEEP = 13
_TRANSPARENT = -2
_PYTHON = int(Activity.PYTHON)
_ANNOTATION = int(Activity.ANNOTATION)
_COMPILATION = int(Activity.COMPILATION)
_TF_FUNCTION = int(Activity.TF_DATA_FUNCTION)
_TF_DATA = int(Activity.TF_DATA)
_OPS = int(Activity.OPS)
_EAGER = int(Activity.EAGER)
_RUNTIME = int(Activity.RUNTIME)
_WAIT = int(Activity.WAIT)
_EAGER_NAMES = (
    "EagerExecute", "EagerLocalExecute", "EagerCopyToDevice", "TFE_", "convert_to_tensor",
    "tf.constant",
)  # fmt: skip
_RUNTIME_NAMES = (
    "ExecutorDoneCallback", "CompleteCallbacks", "ThenExecuteCallback",
    "RemoteCallOpDone", "MemCpyAsync",  # TensorFlow of 2020
)  # fmt: skip
_FEW_SLOTS = 1 << 14
_LOOPS = ("train", "test", "TraceContext")
_CALL_NAMES = tuple(f"EagerLocalExecute: __{how}_" for how in ("inference", "forward", "backward"))


@dataclass(frozen=True, slots=True)
class ThreadActivity:
    """The activity of a host plane's events: `state` [n] are rows of the other columns [states].

    `kind` is an `Activity`, -1 for none. `name` is the type of the event that names the activity:
    the program's innermost Python function (else the outermost frame), or an annotation. `part` is
    the type of the event inside it that takes the time: a call, a wait, or a stage of tf.data. Both
    are -1 if there is none. `is_sleep` says that the thread is not waiting for another thread of
    this process.
    """

    state: NDArray[np.int32]
    kind: NDArray[np.int64]
    name: NDArray[np.int64]
    part: NDArray[np.int64]
    is_sleep: NDArray[np.bool_]


def find_activity(threads: HostThreads, types: HostTypes, marker: str = "") -> ThreadActivity:
    """The activity of all events; events without one have that of the event that encloses them.

    `types` are those without wrappers. Events named `marker` only delimit steps.

        main |batch............|     batch: $train.py:3 batch, sleep: $time sleep
             |...sleep.........|     ->  PYTHON, name batch, part -1, sleep and then sort
             |...........sort..|
    """
    texts = [*threads.plane.types.full_names, ""]
    families = name_families(threads.plane)
    does = families.classify_with_roles(activity_of, types.role, np.int8)
    is_marker = np.fromiter(map(marker.__eq__, texts), np.bool_, len(texts))
    is_marker &= does == _ANNOTATION
    named = families.classify(role_without_device, np.int8)
    # Wrappers with unknown names were recognized by a stat: they are markers or function calls.
    is_marker |= (types.role == Role.WRAPPER) & (named == Role.ACTIVITY) & ~types.is_function
    is_marker |= families.classify(_LOOPS.__contains__, np.bool_)
    does[is_marker | types.has_number] = _TRANSPARENT
    does[types.is_hlo & (does == _ANNOTATION)] = _OPS
    frame = families.classify(_frame, np.int8)
    state, states = _follow(threads, does, frame)
    kind, name, part = (np.ascontiguousarray(column) for column in states.T)
    is_sleep = kind == _SLEEP
    kind[is_sleep] = _PYTHON
    # A wait in an annotation counts as the annotation.
    in_annotation = is_sleep & (name >= 0)
    in_annotation[in_annotation] = frame[name[in_annotation]] == 0
    kind[in_annotation] = _ANNOTATION
    is_named = is_in(kind, (_PYTHON, _ANNOTATION, _WAIT))
    in_function = kind == _TF_FUNCTION
    part[in_function] = name[in_function]
    name[~is_named] = -1
    return ThreadActivity(state, kind, name, part, is_sleep)


def _frame(text: str) -> int:
    """1 for a Python frame of a library, 2 for one of the program, 0 for other events."""
    return text.startswith(names.PYTHON_FRAME) + is_own(text)


def _follow(
    threads: HostThreads, does: NDArray[np.int8], frame: NDArray[np.int8]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(state of each event, states [states, 3]) as computed by `follow_activity`."""
    events = threads.events
    forced = _functions_of_pipelines(threads)
    state = empty_column(len(events), np.int32)
    # Usually there are few states, and they fit into the processor's cache.
    size, count = _FEW_SLOTS, -1
    while count < 0:
        states = np.empty((size // 2 + 1, 3), np.int64)
        count = follow_activity(
            threads.parent, events.duration_ps, events.type, does, frame, forced,
            np.full(size, -1, np.int32), states, state,
        )  # fmt: skip
        size *= 16
    return state, states[:count]


@remembered
def activity_of(text: str, role: int) -> int:
    """The `Activity` of an event with this name and role, negative if it has none of its own."""
    if text.startswith(names.PYTHON_FRAME):
        wait = wait_of(text)
        if text == "$gc collect":
            return Activity.GARBAGE
        return _WAIT if wait == Wait.INSIDE else _SLEEP if wait else _PYTHON
    if input_names.is_iterator(text):
        is_buffered = input_names.is_buffered(input_names.parts_of(text))
        return _WAIT if is_buffered else _TF_DATA
    if text in names.CAPTURED_FUNCTIONS:
        return _WAIT  # for the threads that run it
    if text.startswith(_CALL_NAMES):
        return _RUNTIME
    if text.startswith(_EAGER_NAMES):
        return _EAGER
    match role:
        case Role.FRAME | Role.LAUNCHER:
            return _TRANSPARENT
        case Role.WRAPPER | Phase.KERNEL_LAUNCH:
            return _RUNTIME
        case Role.WAIT:
            return _WAIT
        case Role.UPKEEP:
            return Activity.GARBAGE if "Garbage" in text else Activity.MEMORY
        case Role.ACTIVITY:
            is_known = "::" in text or text in _RUNTIME_NAMES
            return _RUNTIME if is_known else _ANNOTATION
        case Role.BACKGROUND:
            return _TF_DATA
        case Phase.INPUT | Phase.OUTPUT:
            return Activity.TRANSFER
        case Phase.COMPILATION:
            return _COMPILATION
    return _OPS


def _functions_of_pipelines(threads: HostThreads) -> NDArray[np.int64]:
    """The rows, ascending, of executions of functions that a pipeline captured."""
    events = threads.events
    families = name_families(events.plane)
    functions = events.rows_of(families.classify(names.CAPTURED_FUNCTIONS.__contains__, np.bool_))
    runs = events.rows_of(families.classify(names.EXECUTOR.__eq__, np.bool_))
    return runs[executed_functions(events, functions, runs) >= 0]
