"""The fields of lines that follow their events in the file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.kernels.codes import (
    FOLLOWS_DISPLAY_ID,
    FOLLOWS_DISPLAY_NAME,
    FOLLOWS_ID,
    FOLLOWS_NAME,
    FOLLOWS_TIMESTAMP,
)
from tbprof.kernels.xplane.event_scan import LineEnds
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.lines.line_index import Line, Span


@dataclass(frozen=True, slots=True)
class Following:
    """The fields of lines [n] that follow their events, where they have them.

    `scalars` [4, n] are `follows`, by `FOLLOWS_…`, ids, time stamps and display ids; `ranges`
    [2, n, 2] are those of names and display names in the file.
    """

    scalars: NDArray[np.int64]
    ranges: NDArray[np.int64]

    @classmethod
    def of(cls, lines: int) -> Following:
        """For lines whose following fields are not known yet."""
        return cls(np.zeros((4, lines), np.int64), np.full((2, lines, 2), -1, np.int64))

    @property
    def follows(self) -> NDArray[np.int64]:
        """[n] which fields follow."""
        follows: NDArray[np.int64] = self.scalars[0]
        return follows

    def ends(self, events: NDArray[np.int64] | None = None) -> LineEnds:
        """The arrays that a pass fills; `events` [n] receives the numbers of events."""
        if events is None:
            events = np.zeros(self.follows.size, np.int64)
        return LineEnds(events, *self.scalars, *self.ranges)

    def stamped(self, span: Span, row: int) -> Span:
        """The span, with the time stamp that followed its events if there is one."""
        if not self.follows[row] & FOLLOWS_TIMESTAMP:
            return span
        self.follows[row] &= ~FOLLOWS_TIMESTAMP
        return span._replace(timestamp_ns=int(self.scalars[2, row]))

    def complete(self, lines: Sequence[Line], buffer: Buffer) -> list[Line]:
        """The lines with these fields; their spans already have the time stamps."""
        whole = list(lines)
        rows = np.flatnonzero(self.follows)
        if not rows.size:
            return whole
        _, id_, _, display_id = self.scalars
        names, display_names = (buffer.texts(texts[rows]) for texts in self.ranges)
        for row, has, name, display_name in zip(
            rows.tolist(), self.follows[rows].tolist(), names, display_names, strict=True
        ):
            line = lines[row]
            whole[row] = Line(
                int(id_[row]) if has & FOLLOWS_ID else line.id,
                name if has & FOLLOWS_NAME else line.name,
                int(display_id[row]) if has & FOLLOWS_DISPLAY_ID else line.display_id,
                display_name if has & FOLLOWS_DISPLAY_NAME else line.display_name,
                line.spans,
            )
        return whole
