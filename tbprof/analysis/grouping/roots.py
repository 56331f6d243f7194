"""The table of groups: their root events and labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.events.space import Events


@dataclass(frozen=True, slots=True)
class Roots:
    """The groups, one row each: the root event that begins it, and its label.

    `name` is the name of the root event, `number` the step number (the group's number if the trace
    has none), `label` the text that viewers show ("train 3"). `is_marker` marks roots that the
    program marked as steps or that the user chose; others are executions of functions or programs.
    `plane` (an index into `Grouping.hosts`) and `row` locate the root event, -1 if it is unknown;
    start and duration in ps are then -1 and 0.
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
