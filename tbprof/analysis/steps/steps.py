"""The steps of a host, and what their time was spent on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.records import dataclass, field


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The times of the steps of a host's workers: columns of `Steps`."""

    worker_name: list[str]
    worker_kind: list[str]
    worker: NDArray[np.int64]
    label: list[str]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Steps:
    """One row per (worker, step), ordered by worker, then start.

    A worker is a device that computed, or the host's CPU if no device did. A step lasts until the
    worker's next step starts, so the gap between the two belongs to the first. `own_ps` is its
    length without that gap: without the time after its own work in which no device of the host
    works (or, without devices, no op runs). `phase_ps` [n, PHASES] splits `duration_ps` exactly.
    Times are in ps; `start_ps` counts from the start of the trace, which is `epoch_ns` (0:
    unknown). `is_truncated` marks steps that were recorded only partly, `is_unrecorded` those whose
    device work was not recorded at all, so that their phases lack it. `copied_ps` [n] is the part
    of `Phase.INPUT` in which a GPU copies from the host; empty if unknown.

    `silent_device` names GPUs without any recorded work; `lost_devices` counts the devices among
    them for which the host launched work.

    `source` is one of "steps_line" (the device recorded its steps), "markers" (annotations of the
    program), "chosen" (an event that the user chose), "executions" (inferred: one step per
    execution of a function or program), "pattern" (inferred: a repeating pattern on the driving
    thread), and "none". `marker` names the event that delimits steps, and `note` is a sentence on
    the source. Candidates are events that could mark steps, best first. `has_explicit_numbers` says
    that the program numbered all steps, `doubts` are sentences on what is uncertain about them, and
    `ends_early` says where the file was truncated ("" if it is complete). With `is_behind`, work
    ran after the markers that launched it, and steps begin with their first work.
    """

    source: str
    marker: str
    note: str
    epoch_ns: int
    worker_name: list[str]
    worker_kind: list[str]  # "GPU", "TPU", "SparseCore", "CPU"
    worker_id: NDArray[np.int64]
    silent_device: list[str]
    lost_devices: int
    worker: NDArray[np.int64]
    number: NDArray[np.int64]
    label: list[str]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    own_ps: NDArray[np.int64]
    is_truncated: NDArray[np.bool_]
    is_unrecorded: NDArray[np.bool_]
    phase_ps: NDArray[np.int64]  # [n, PHASES]
    has_explicit_numbers: bool
    candidate_name: list[str]
    candidate_line: list[str]
    candidate_count: NDArray[np.int64]
    candidate_median_ps: NDArray[np.int64]
    ends_early: str = ""
    doubts: list[str] = field(default_factory=list)
    copied_ps: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    is_behind: bool = False

    @property
    def is_inferred(self) -> bool:
        """Whether nothing in the trace marks steps."""
        return self.source in ("executions", "pattern")

    @property
    def steps_per_worker(self) -> int:
        """The number of steps of the worker that has the most."""
        return int(np.bincount(self.worker, minlength=1).max())


def copies_most(hosts: Sequence[Steps]) -> bool:
    """Whether GPUs copy data from the host for at least half of the steps' input time."""
    waited = sum(int(part.phase_ps[:, Phase.INPUT].sum()) for part in hosts)
    return 2 * sum(int(part.copied_ps.sum()) for part in hosts) >= waited > 0
