"""What kind of work an event is, by the unique names of events.

Names have the same meaning as in the analyses: `host_roles` for threads of hosts,
`gpu_phases` for what ran on GPUs, `tpu_phases` for the ops of TPUs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.gpu.gpu_phases import NO_PHASE, name_phase
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_roles import Role, classify_host_names, host_types
from tbprof.analysis.tpu.tpu_phases import tpu_phases
from tbprof.analysis.vocabulary.input_names import is_enqueue
from tbprof.analysis.vocabulary.op_names import OpCategory, copy_type, parse_op_name
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase
from tbprof.base import names
from tbprof.events.space import Events, Plane
from tbprof.timeline.model.category_names import Category

# No pattern looks further into a name.
_LONGEST = 4096


_OF_PHASE: dict[int, Category] = {
    **dict.fromkeys(COMPUTE, Category.COMPUTE),
    Phase.COLLECTIVES: Category.COLLECTIVES,
    Phase.DEVICE_TO_DEVICE: Category.COPIES,
    Phase.HOST_TRANSFER: Category.COPIES,
    Phase.HOST_CALLBACK: Category.WAITING,
    Phase.INPUT: Category.INPUT,
    Phase.OUTPUT: Category.OUTPUT,
    Phase.COMPILATION: Category.COMPILATION,
    Phase.KERNEL_LAUNCH: Category.LAUNCH,
    Phase.HOST_COMPUTE: Category.HOST,
    Phase.OTHER: Category.OTHER,
    Role.WAIT: Category.WAITING,
    Role.ACTIVITY: Category.OTHER,
    Role.WRAPPER: Category.OTHER,
    Role.LAUNCHER: Category.HOST,
    Role.BACKGROUND: Category.INPUT,
    Role.UPKEEP: Category.OTHER,
    Role.FRAME: Category.BOOKKEEPING,
}
# What a GPU does for one of these is a copy, or an event of its recorder.
_OF_GPU_PHASE: dict[int, Category] = {
    **_OF_PHASE,
    Phase.INPUT: Category.COPIES,
    Phase.OUTPUT: Category.COPIES,
    Phase.HOST_COMPUTE: Category.COPIES,
    NO_PHASE: Category.BOOKKEEPING,
}
# Kinds of track with a single category.
_OF_TRACK = {
    "steps": Category.STEPS,
    "modules": Category.PROGRAMS,
    "scopes": Category.SCOPES,
    "source": Category.SCOPES,
}


def host_categories(
    events: Events, types: NDArray[np.int64], *, has_device: bool
) -> NDArray[np.uint8]:
    """[n] the categories of a host plane's `types` [n] that have `events`; -1 for none.

    Copies have that category whatever makes them; step markers are steps.
    """
    plane = events.plane
    known = host_types(events, has_device=has_device)
    texts = plane.strings.take(np.append(plane.types.name, np.int32(-1))[types].tolist())
    role = known.role[types]
    # Types whose events all have no duration are classified by name only.
    frames = np.flatnonzero(role == Role.FRAME)
    role[frames] = classify_host_names([texts[row] for row in frames], has_device=has_device)
    return np.where(known.has_number[types], Category.STEPS, _of_roles(texts, role)).astype(
        np.uint8
    )


def _of_roles(texts: Sequence[str], roles: NDArray[np.int8]) -> NDArray[np.uint8]:
    categories = [
        _host_category(text[:_LONGEST], role)
        for text, role in zip(texts, roles.tolist(), strict=True)
    ]
    return np.array(categories, np.uint8)


def _host_category(text: str, role: int) -> Category:
    if text.startswith(names.PYTHON_FRAME) and role == Role.FRAME:
        return Category.PYTHON
    if role in (Phase.INPUT, Phase.OUTPUT) and _is_copy(text):
        return Category.COPIES
    return _OF_PHASE[role]


def _is_copy(text: str) -> bool:
    """Whether an event of input or output moves data between host and device."""
    if parse_op_name(text).category == OpCategory.COPY or is_enqueue(text):
        return True
    return copy_type(text) != ""


def track_categories(
    plane: Plane, types: NDArray[np.int64], kind: str, programs: Programs
) -> NDArray[np.uint8]:
    """[n] the categories of the `types` [n] of a device's tracks of this kind; -1 for no type."""
    if kind in _OF_TRACK:
        return np.full(types.size, _OF_TRACK[kind], np.uint8)
    texts = plane.strings.take(np.append(plane.types.name, np.int32(-1))[types].tolist())
    if plane.name.startswith(names.GPU_PREFIX) and kind in ("stream", "async"):
        categories = [gpu_category(text) for text in texts]
    elif kind in ("xla_ops", "async"):
        categories = [
            _OF_PHASE[phase] for phase in tpu_phases(plane, programs, types, is_precise=False)
        ]
    elif kind == "ops":
        categories = [op_category(text) for text in texts]
    else:
        named = _of_roles(texts, classify_host_names(texts, has_device=True))
        is_barrier = np.array([text == names.CORE_BARRIER for text in texts], bool)
        return np.where(is_barrier, Category.COLLECTIVES, named).astype(np.uint8)
    return np.array(categories, np.uint8)


def gpu_category(event: str) -> Category:
    """The category of a GPU's event by its name only."""
    return _OF_GPU_PHASE[name_phase(event)]


def op_category(op: str) -> Category:
    """The category of a framework op, by its name or `name:Type`, that ran on a device."""
    parsed = parse_op_name(op[:_LONGEST])
    category = gpu_category(parsed.type or parsed.name.rpartition("/")[2])
    return Category.COMPUTE if category == Category.BOOKKEEPING else category
