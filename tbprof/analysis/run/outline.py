"""What the index of a file tells: its planes, what they can hold, and whether the file is whole."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.run.recording import epoch_of_times
from tbprof.analysis.vocabulary import input_names
from tbprof.analysis.vocabulary.lines import gpu_planes, host_planes
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.events.space import Plane, Space

# What not all files hold: events with names, GPU kernels, allocations, iterators of tf.data.
Content = Literal["names", "kernels", "allocations", "iterators"]


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known of a file before any event of it is decoded.

    `event_bytes` [planes] is how many bytes the events of each plane take: one without any has
    recorded nothing. `holds` names what its planes say that they have (`Content`); what is missing
    there is in no event. `errors` and `warnings` are those of the recorder,
    `epoch_ns` the time of day that the trace's times count from, 0 where it is unknown.
    `ends_early` says where a file ends that was cut off, "" where it is whole.
    """

    planes: list[str]
    event_bytes: NDArray[np.int64]
    holds: list[str]
    errors: list[str]
    warnings: list[str]
    epoch_ns: int
    ends_early: str


def find_outline(space: Space, _programs: Programs) -> Outline:
    """The outline of a space; touches no events."""
    return Outline(
        [plane.name for plane in space.planes],
        np.array([int(plane.line_bytes.sum()) for plane in space.planes], np.int64),
        [*_contents(space)],
        list(space.errors),
        list(space.warnings),
        epoch_of_times(space),
        space.ends_early,
    )


def _contents(space: Space) -> "list[Content]":
    found: list[Content] = []
    if any(plane.types.id.size and plane.line_bytes.any() for plane in space.planes):
        found.append("names")
    if any(names.KERNEL_DETAILS in plane.stat_names for plane in gpu_planes(space)):
        found.append("kernels")
    texts = [text for plane in host_planes(space) for text in _type_names(plane)]
    if names.MEMORY_ALLOCATION in texts or names.MEMORY_DEALLOCATION in texts:
        found.append("allocations")
    if any(map(input_names.is_iterator, texts)):
        found.append("iterators")
    return found


def _type_names(plane: Plane) -> list[str]:
    return plane.strings.take(plane.types.name.tolist())
