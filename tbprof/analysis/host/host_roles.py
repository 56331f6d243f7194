"""The roles of host events, by their names and their stats.

Names were observed in traces of TensorFlow 2.21, JAX 0.10 (CPU, TPU) and TensorFlow of 2020 (GPU),
or come from xla/tsl/profiler/utils/xplane_schema.h and the APIs of CUDA and HIP.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.runtime_names import group_of_name, is_callback
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.op_names import NAMES_AT_ONCE, OpCategory, parse_op_name
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.analysis.vocabulary.python_frames import wait_of
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass, replace
from tbprof.base.values import is_in, unique
from tbprof.events.space import Events
from tbprof.kernels.analysis.row_groups import sample_types


class Role(IntEnum):
    """The role of an event whose name gives it no phase; other events have the number of a `Phase`.

    FRAME, WRAPPER: does nothing itself; its time has the phase of the event around it. A wrapper
        belongs to a known runtime, while a Python frame, a mark or an instant says nothing.
    WAIT: blocks; unless it is part of input, output or compilation, nothing is done.
    ACTIVITY: an unknown name, such as an annotation of the program: it may compute or sleep, and
        only the events inside say what its time was spent on.
    LAUNCHER: runs ops on any device: it launches if something in it launches; else it computes,
        unless something known is recorded in it.
    BACKGROUND: works ahead for other threads; those that wait for it have events of their own.
    UPKEEP: the runtime allocates or collects its own memory: neither an op nor a launch.
    """

    FRAME = -1
    WRAPPER = -2
    WAIT = -3
    ACTIVITY = -4
    LAUNCHER = -5
    BACKGROUND = -6
    UPKEEP = -7


@dataclass(frozen=True, slots=True)
class HostTypes:
    """The types of event of a host plane; the last row of each column is for events without a type.

    Events of types with `is_hlo` ran instructions of a compiled program on the CPU, with `is_op`
    computed one op each (of a framework or a program), with `has_number` have a step number, with
    `is_function` call a `tf.function`, and with `is_launch` launch work on a device. In events with
    `is_program_launch`, XLA launches the kernels of a compiled program; with `is_callback`, that
    program calls Python. On a host without devices, `is_callback` is False.
    """

    role: NDArray[np.int8]
    is_hlo: NDArray[np.bool_]
    is_op: NDArray[np.bool_]
    has_number: NDArray[np.bool_]
    is_function: NDArray[np.bool_]
    is_launch: NDArray[np.bool_]
    is_program_launch: NDArray[np.bool_]
    is_callback: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class StatTypes:
    """The types whose sampled events have a step number, or call a `tf.function`, as `HostTypes`.

    Finding them takes no names.
    """

    has_number: NDArray[np.bool_]
    is_function: NDArray[np.bool_]


# No pattern nests repetitions: names are untrusted input.
_PYTHON_INPUT = regex(
    r"""\$
        (?:dataloader|data_loader|iterator_ops|multi_device_iterator_ops|dataset_iterator|prefetch)
        \.py:\d+\ (?:__next__|_next_data|_next_internal|next|get_next)\Z
    """,
    re.VERBOSE,
)
# Source: xla, backends/gpu/runtime/annotation.cc and service/gpu/gpu_executable.cc.
_PROGRAM_LAUNCH = ":XLA GPU module"
_INPUT_OP = regex(r"(?:MultiDevice)?IteratorGetNext|InfeedEnqueue")
_OUTPUT_OP = regex(r"Outfeed|Write\w*Summary|Save|MergeV2Checkpoints")
_COLLECTIVE_OP = regex(r"Collective|Nccl")
_HLO = regex(
    r"(?P<COLLECTIVES>all-(?:reduce|gather|to-all)|reduce-scatter|collective-|ragged-all-to-all)"
    r"|(?P<DEVICE_TO_DEVICE>(?:send|recv)(?:-done)?(?:\.\d+)?\Z)"
    r"|(?P<INPUT>infeed)|(?P<OUTPUT>outfeed)"
)
# Stats whose presence determines the role of a type of event.
_STAGE = "_ipl_stage_name"
_FUNCTION_CALL = "tf_function_call"
_ROLE_STATS = (
    names.CORRELATION_ID,
    names.STEP_NUMBER,
    names.ROOT,
    _STAGE,
    _FUNCTION_CALL,
    names.HLO_OP,
)
# Waits for a program to finish: the only trace of its run if no instructions are recorded.
# Source: JAX 0.6 on CPUs.
_AWAITS_PROGRAM = "ThunkExecutor::Execute (wait for completion)"
# Patterns ignore everything after this many characters: kernel names can have thousands.
_LONGEST = 256


def classify_host_names(texts: Sequence[str], *, has_device: bool) -> NDArray[np.int8]:
    """[n] the `Phase` or `Role` of each full name of a host event.

    With a device, dispatching programs and calling the driver count as launching, and reading an
    array is a copy from the device. Without one, programs run on the host's own threads:
    dispatching only wraps them, and reading waits for them.
    """
    return np.array([_role(text[:_LONGEST], has_device) for text in texts], np.int8)


def role_beside_device(text: str) -> int:
    """The `Phase` or `Role` of a full name on a host with devices."""
    return _role(text[:_LONGEST], has_device=True)


def role_without_device(text: str) -> int:
    """The `Phase` or `Role` of a full name on a host whose own threads run programs."""
    return _role(text[:_LONGEST], has_device=False)


@functools.lru_cache(maxsize=NAMES_AT_ONCE)
def _role(text: str, has_device: bool) -> int:
    if text.startswith("$"):
        if _PYTHON_INPUT.match(text):
            return Phase.INPUT
        return Role.WAIT if wait_of(text) else Role.FRAME
    group = group_of_name(text)
    if group:
        match group:
            case "DISPATCH":
                return Phase.KERNEL_LAUNCH if has_device else Role.WRAPPER
            case "READ":
                return Phase.OUTPUT if has_device else Role.WRAPPER
            case "DRIVER":
                return Phase.KERNEL_LAUNCH if has_device else Role.ACTIVITY
            case "EXECUTOR":
                return Role.LAUNCHER if has_device else Phase.HOST_COMPUTE
            case "PROGRAM":
                return Phase.KERNEL_LAUNCH if has_device else Phase.HOST_COMPUTE
            case _:
                return _number(group)
    return _op_role(text, has_device=has_device)


def _is_known(text: str) -> bool:
    return group_of_name(text[:_LONGEST]) != ""


def _op_role(text: str, *, has_device: bool) -> int:
    op = parse_op_name(text)
    if op.category == OpCategory.TENSORFLOW:
        if _INPUT_OP.match(op.type):
            return Phase.INPUT
        if _OUTPUT_OP.match(op.type):
            return Phase.OUTPUT
        if _COLLECTIVE_OP.match(op.type) and not has_device:
            return Phase.COLLECTIVES
        return Phase.HOST_COMPUTE
    # A lower-case word after a colon may be any annotation; JAX's full names are paths.
    if op.category == OpCategory.JAX and "/" in op.name:
        return Phase.HOST_COMPUTE
    return Role.ACTIVITY


def _number(name: str) -> int:
    return int(Phase[name] if name in Phase.__members__ else Role[name])


def host_types(events: Events, *, has_device: bool, wrappers: Collection[str] = ()) -> HostTypes:
    """The roles of the plane's types of event, by name and by the stats of sampled events.

    `wrappers` are names of events that delimit, such as the marker of steps: events with unknown
    names do nothing else, while an op is work even if it marks steps. `events` are those of all
    recorded lines of the plane; everything that does not depend on `wrappers` is computed once.
    """
    plane = events.plane
    key = ("host types", has_device)
    types = plane.cache.get_or_compute(key, lambda: _find_types(events, has_device=has_device))
    if not wrappers:
        return types
    is_wrapper = np.append(is_in(plane.types.name, plane.strings.intern([*wrappers])), False)
    delimits = is_wrapper & (types.role == Role.ACTIVITY)
    return replace(types, role=np.where(delimits, np.int8(Role.WRAPPER), types.role))


def stat_types(events: Events) -> StatTypes:
    """What the stats say of the plane's types; `events` are as for `host_types`."""
    _, has = _sampled(events)
    return StatTypes(has[names.STEP_NUMBER], has[_FUNCTION_CALL])


def is_jitted(text: str) -> bool:
    """Whether an event is a call of a function that JAX compiled."""
    return text.startswith(names.JITTED)


def lasting_rows(events: Events) -> NDArray[np.int64]:
    """The rows, ascending, of the first and last event with a duration of each type.

    `host_types` looks at these events only; those without a type are included.
    """
    sample = np.full((events.plane.types.id.size + 1, 2), -1, np.int64)
    sample_types(events.type, events.duration_ps, sample)
    return unique(sample[sample >= 0])


def _find_types(events: Events, *, has_device: bool) -> HostTypes:
    """The types by their names, and by the stats of their first and last events."""
    families = name_families(events.plane)
    is_used, has = _sampled(events)
    roles = families.classify(role_beside_device if has_device else role_without_device, np.int8)
    role = np.where(is_used, roles, np.int8(Role.FRAME))
    is_hlo = has[names.HLO_OP] & is_in(role, (Role.ACTIVITY, Phase.HOST_COMPUTE))
    role[is_hlo] = Phase.HOST_COMPUTE
    if not has_device and is_hlo.any():
        hlo = families.classify(_hlo_phase, np.int8)
        role[is_hlo] = hlo[is_hlo]
    if not has_device and not is_hlo.any():
        is_hlo = is_used & families.classify(_AWAITS_PROGRAM.__eq__, np.bool_)
        role[is_hlo] = Phase.HOST_COMPUTE
    is_hlo |= families.classify(names.RUNS_PROGRAM.__eq__, np.bool_)
    if has_device:
        may = (role < 0) & (role != Role.WAIT) & (role != Role.BACKGROUND)
        role[has[names.CORRELATION_ID] & may] = Phase.KERNEL_LAUNCH
    role[has[_STAGE]] = Phase.INPUT
    is_known = families.classify(_is_known, np.bool_)
    is_op = is_in(role, (Phase.COLLECTIVES, Phase.HOST_COMPUTE)) & ~is_known
    wraps = has[names.STEP_NUMBER] | has[names.ROOT] | has[_FUNCTION_CALL]
    role[wraps & (role == Role.ACTIVITY)] = Role.WRAPPER
    calls_back = is_used & has_device & families.classify(is_callback, np.bool_)
    return HostTypes(
        role, is_hlo, is_op, has[names.STEP_NUMBER], has[_FUNCTION_CALL], has[names.CORRELATION_ID],
        families.classify(_launches_program, np.bool_), calls_back,
    )  # fmt: skip


def _launches_program(text: str) -> bool:
    return text.endswith(_PROGRAM_LAUNCH)


def _hlo_phase(text: str) -> int:
    """The phase of the instruction with this name on a CPU."""
    hlo = _HLO.match(text)
    return _number(hlo.lastgroup or "") if hlo else Phase.HOST_COMPUTE


def _sampled(events: Events) -> tuple[NDArray[np.bool_], dict[str, NDArray[np.bool_]]]:
    return events.plane.cache.get_or_compute("sampled stats", lambda: _sample_stats(events))


def _sample_stats(events: Events) -> tuple[NDArray[np.bool_], dict[str, NDArray[np.bool_]]]:
    """([types] whether a type has events; by stat whether its first or last event has it)."""
    sample = np.full((events.plane.types.id.size + 1, 2), -1, np.int64)
    sample_types(events.type, events.duration_ps, sample)
    has = {name: np.zeros(len(sample), np.bool_) for name in _ROLE_STATS}
    stat_names = [name for name in _ROLE_STATS if name in events.plane.stat_names]
    kind, _ = np.nonzero(sample >= 0)
    rows = sample[sample >= 0]
    stats = events.stats(stat_names, rows) if stat_names and rows.size else {}
    for name, column in stats.items():
        has[name][kind[column.is_present]] = True
    return sample[:, 0] >= 0, has
