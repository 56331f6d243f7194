"""The runs of compiled programs on TPU cores, according to the cores' lines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.vocabulary.lines import named_lines, tpu_planes
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.base.values import join_columns
from tbprof.events.space import Space


@dataclass(frozen=True, slots=True)
class ProgramRuns:
    """Runs [n] by plane, line and start.

    `plane` and `program` are indices into `planes` and `programs`. Planes are named without
    `/device:`. Times are those of the file, in ps since `Space.start_ns`.
    """

    planes: list[str]
    programs: list[str]
    plane: NDArray[np.int32]
    program: NDArray[np.int32]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]


def find_program_runs(space: Space, _programs: Programs) -> ProgramRuns:
    """The runs on all cores of the host."""
    planes: list[str] = []
    programs: dict[str, int] = {}
    pieces: list[tuple[NDArray[np.int64], ...]] = []
    for plane in tpu_planes(space):
        lines = named_lines(plane, names.XLA_MODULES_LINE)
        if not lines:
            continue
        events = plane.events(lines)
        used = events.used_types(plane.types.name.size)
        texts = plane.strings.take(plane.types.name[used].tolist())
        # The last row is for events without a type.
        row_of = np.full(plane.types.name.size + 1, programs.setdefault("", len(programs)))
        row_of[used] = [programs.setdefault(text, len(programs)) for text in texts]
        own_plane = np.full(len(events), len(planes), np.int64)
        end = events.start_ps + events.duration_ps
        pieces.append((own_plane, events.by_type(row_of), events.start_ps, end))
        planes.append(plane.name.removeprefix("/device:"))
    plane_of, program, start, end = join_columns(pieces, 4)
    return ProgramRuns(
        planes, list(programs), plane_of.astype(np.int32), program.astype(np.int32), start, end
    )
