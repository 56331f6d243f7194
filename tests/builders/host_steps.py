"""The steps of one host, written by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.phases import PHASES, Phase
from tbprof.base.records import replace

US = 1_000_000

Split = Mapping[Phase, int]


def phases_of(splits: Sequence[Split]) -> NDArray[np.int64]:
    """[n, PHASES] the ps of each phase, of splits in µs."""
    out = np.zeros((len(splits), PHASES), np.int64)
    for row, split in enumerate(splits):
        for phase, us in split.items():
            out[row, phase] = us * US
    return out


def host_steps(
    *rows: tuple[int, int, int, Split],
    kind: str = "GPU",
    workers: int | None = None,
    name: str = "train",
    **fields: Any,
) -> Steps:
    """Rows (worker, number, start, µs by phase), ordered by worker and start.

    There are as many workers as the rows name, or `workers`. Other fields are as given.
    """
    phases = phases_of([row[3] for row in rows])
    duration = phases.sum(axis=1)
    count = 1 + max((row[0] for row in rows), default=-1) if workers is None else workers
    steps = Steps(
        source="markers" if rows else "none",
        marker=name if rows else "",
        note="",
        epoch_ns=1000,
        worker_name=[f"{kind}:{worker}" for worker in range(count)],
        worker_kind=[kind] * count,
        worker_id=np.arange(count),
        worker=np.array([row[0] for row in rows], np.int64),
        number=np.array([row[1] for row in rows], np.int64),
        label=[f"{name} {row[1]}" for row in rows],
        start_ps=np.array([row[2] for row in rows], np.int64) * US,
        duration_ps=duration,
        own_ps=duration,
        is_truncated=np.zeros(len(rows), bool),
        is_unrecorded=np.zeros(len(rows), bool),
        silent_device=[],
        lost_devices=0,
        phase_ps=phases,
        has_explicit_numbers=True,
        candidate_name=[],
        candidate_line=[],
        candidate_count=np.zeros(0, np.int64),
        candidate_median_ps=np.zeros(0, np.int64),
    )
    return replace(steps, **fields)
