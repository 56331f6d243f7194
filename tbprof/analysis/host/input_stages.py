"""Events that are input pipeline stages according to their stats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.events.space import Events


@dataclass(frozen=True, slots=True)
class Stages:
    """Events that are input pipeline stages by their stats; `category` are ids of texts."""

    rows: NDArray[np.int64]
    stage: NDArray[np.int64]
    category: NDArray[np.int32]

    def label(self, name: str, index: int) -> str:
        """The label of stage `index` of an op or event in tables."""
        return f"{name} (stage {int(self.stage[index])})"


def find_input_stages(events: Events, rows: NDArray[np.int64]) -> Stages:
    """The stages among the events `rows`."""
    stats = events.stats([names.STAGE_ID, names.STAGE_CATEGORY], rows)
    category = stats[names.STAGE_CATEGORY].texts()
    staged = stats[names.STAGE_ID].is_present & (category >= 0)
    return Stages(rows[staged], stats[names.STAGE_ID].integers()[staged], category[staged])
