"""Steps made by hand, for tests of what rests on them. Times in µs."""

from collections.abc import Mapping, Sequence

import numpy as np

from builders.host_steps import US, Split, phases_of
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.steps.steps import Steps


def job_of(
    steps: Sequence[Mapping[str, Split]],
    *,
    gaps: Mapping[tuple[int, str], int] | None = None,
    truncated: Sequence[int] = (),
    unrecorded: Sequence[tuple[int, str]] = (),
    kinds: Mapping[str, str] | None = None,
    source: str = "markers",
    marker: str = "train",
    parts: tuple[Steps, ...] = (),
) -> JobSteps:
    """A job whose step k is split as `steps[k][worker]` says; a step lasts as long as its phases.

    `gaps` [step, worker] is the part of it after its own work. Workers are of `kinds` ("GPU"), the
    steps `truncated`, and those of workers `unrecorded`.
    """
    workers = list(dict.fromkeys(worker for step in steps for worker in step))
    rows = [(number, worker) for number, step in enumerate(steps) for worker in workers
            if worker in step]  # fmt: skip
    phases = phases_of([steps[number][worker] for number, worker in rows])
    duration = phases.sum(axis=1)
    gap = np.array([(gaps or {}).get(row, 0) * US for row in rows], np.int64)
    start = np.array([number * 1000 * US for number, _ in rows], np.int64)
    return JobSteps(
        ("h0",),
        source if steps else "none",
        marker,
        "",
        workers,
        [(kinds or {}).get(worker, "GPU") for worker in workers],
        np.zeros(len(workers), np.int64),
        np.arange(1, len(workers) + 1, dtype=np.int64),
        np.arange(len(steps), dtype=np.int64),
        [f"{marker} {number}" for number in range(len(steps))],
        np.array([number for number, _ in rows], np.int64),
        np.array([workers.index(worker) for _, worker in rows], np.int64),
        np.arange(len(rows)),
        start,
        duration,
        duration - gap,
        np.array([number in truncated for number, _ in rows], bool),
        np.array([row in unrecorded for row in rows], bool),
        phases,
        (),
        parts,
    )
