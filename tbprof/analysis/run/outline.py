"""The outline of a file: its planes, what they can contain, and whether it is complete."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass

# Contents that some files lack: events with names, GPU kernels, allocations, iterators of tf.data,
# compiled programs, executed instructions of these.
Content = Literal["names", "kernels", "allocations", "iterators", "programs", "instructions"]


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known about a file before any of its events is decoded.

    `event_bytes` [planes] is the size of the events of each plane, 0 if nothing was recorded.
    `holds` lists the contents (`Content`) that the planes may have; others occur in no event.
    `errors` and `warnings` are those of the recorder. `epoch_ns` is the epoch time that the trace's
    times count from, 0 if unknown. `ends_early` says where a truncated file ends, "" if it is
    complete.
    """

    planes: list[str]
    event_bytes: NDArray[np.int64]
    holds: list[str]
    errors: list[str]
    warnings: list[str]
    epoch_ns: int
    ends_early: str
