"""Steps of drawn traces, checked to add up, and as tables."""

import numpy as np
from traces import space_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.phases import Phase

GPU = "/device:GPU:0"
HOST = "/host:CPU"


def steps_of(trace: bytes, marker: str = "") -> Steps:
    space = space_of(trace)
    steps = find_steps(space, Programs(space), marker)
    assert np.array_equal(steps.phase_ps.sum(axis=1), steps.duration_ps)
    assert (steps.phase_ps >= 0).all()
    return steps


def table(steps: Steps) -> list[tuple[str, str, dict[str, int]]]:
    """(worker, label, µs by phase that is not 0) of every step."""
    out = []
    for row, worker in enumerate(steps.worker.tolist()):
        us = {
            phase.name.lower(): int(steps.phase_ps[row, phase]) // 1_000_000
            for phase in Phase
            if steps.phase_ps[row, phase]
        }
        out.append((steps.worker_name[worker], steps.label[row], us))
    return out


def times(steps: Steps) -> list[tuple[int, int, int]]:
    """(start, duration, own) in µs."""
    columns = (steps.start_ps, steps.duration_ps, steps.own_ps)
    return [
        tuple(value // 1_000_000 for value in row)
        for row in zip(*(column.tolist() for column in columns), strict=True)
    ]
