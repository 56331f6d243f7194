"""The steps of a host and what their time was spent on."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.records import dataclass, field


@dataclass(frozen=True, slots=True)
class StepTimes:
    """When the steps of a host's workers were: these columns of `Steps`."""

    worker_name: list[str]
    worker_kind: list[str]
    worker: NDArray[np.int64]
    label: list[str]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Steps:
    """One row per (worker, step), ordered by worker, then start.

    A worker is a device that did something, or the host's CPU where no device did. A step lasts
    until the worker's next step starts, so the gap between the two belongs to the first. `own_ps`
    is its length without that gap: without the time after its own work in which no device of the
    host works (no op, where there are no devices). `phase_ps` [n, PHASES] splits `duration_ps`
    exactly. Times are in ps; `start_ps` counts from the trace's first moment, which is `epoch_ns`
    (0: unknown). `is_truncated` marks steps that were recorded only in part, `is_unrecorded` those
    with device work that was not recorded at all: their phases say nothing about it. `copied_ps`
    [n] is the part of `Phase.INPUT` in which a GPU copies from the host; empty if unknown.

    `silent_device` names GPUs without any recorded work; `lost_devices` counts the devices among
    them that calls of the host launched work for.

    `source` is one of "steps_line" (the device recorded its steps), "markers" (annotations of the
    program), "chosen" (an event that the user chose), "executions" (inferred: one step per
    execution of a function or program), "pattern" (inferred: what repeats on the busiest thread),
    and "none". `marker` names the event that delimits steps, and `note` says it in a sentence.
    Candidates are events that could mark steps, best first. `has_explicit_numbers` says that the
    program numbered all steps, `doubts` says in sentences what about them is uncertain, and
    `ends_early` says where the file was cut off ("": it is complete). With `is_behind`, work ran
    after the markers that launched it, and steps begin with their first work.
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


def copies_most(hosts: Sequence[Steps]) -> bool:
    """Whether GPUs copy from the host in at least half of the time that steps wait for input."""
    waited = sum(int(part.phase_ps[:, Phase.INPUT].sum()) for part in hosts)
    return 2 * sum(int(part.copied_ps.sum()) for part in hosts) >= waited > 0
