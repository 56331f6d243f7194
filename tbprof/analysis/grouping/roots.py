"""The table of groups: the event that began each, and its label."""

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.events.space import Events


@dataclass(frozen=True, slots=True)
class Roots:
    """The groups, one row each: the event that began it, and its label.

    `name` is the name of the root event, `number` the step number (the group's number where the
    trace has none), `label` what viewers show ("train 3"). `is_marker`: the program marked it as a
    step, or the user chose it; other roots are executions of functions or programs. `plane` (an
    index into `Grouping.hosts`) and `row` locate the root event, -1 where it is unknown; times in
    ps are then -1 and 0.
    """

    name: list[str]
    number: NDArray[np.int64]
    label: list[str]
    is_marker: NDArray[np.bool_]
    plane: NDArray[np.int64]
    row: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.name)


def names_at(events: Events, rows: NDArray[np.int64]) -> list[str]:
    """The full names of the events at `rows`."""
    name = events.plane.types.name
    types = events.type[rows]
    return events.plane.strings.take(
        np.where(types >= 0, name[types], -1).tolist() if name.size else [-1] * rows.size
    )
