"""The cause of waits for input, which all pages share."""

from __future__ import annotations

import math
from typing import Literal

from tbprof.advice.guides import Guide
from tbprof.base.records import dataclass

TRY_APART = (
    "To find out whether input is the bottleneck, run the model on one batch kept in memory, and "
    "iterate over the loader without the model. Then optimize the slower of the two."
)

CauseKind = Literal["stage", "pipeline", "transfer", "elsewhere", "unknown"]


@dataclass(frozen=True, slots=True)
class InputCause:
    """The cause of waits for input, and what to do about it.

    `kind` is "stage" for a stage of a tf.data pipeline; "pipeline" if the trace does not show which
    stage is slow; "transfer" for data that is sent to devices; "elsewhere" if tf.data was recorded
    and is not slow, or its iterators take longer to create than to use; "unknown" if no input
    pipeline was recorded.

    `stage` is the long name of the stage, `type` its name in programs; "" if there is none. It
    takes `stage_ms` of each call to its pipeline, which lasts `call_ms`; both are averages, NaN if
    there is none. `sentence` describes the cause, `action` the remedy.
    """

    kind: CauseKind
    host: str
    pipeline: str
    stage: str
    type: str
    stage_ms: float
    call_ms: float
    sentence: str
    action: str
    guide: Guide

    @property
    def is_most(self) -> bool:
        """Whether a stage takes at least half of the time of its pipeline's calls."""
        return self.kind == "stage" and 2 * self.stage_ms >= self.call_ms

    def properties(self) -> dict[str, str]:
        """The properties for scripts and other pages; "" for figures that are NaN."""
        return {
            "input_cause": self.kind,
            "input_cause_host": self.host,
            "input_cause_pipeline": self.pipeline,
            "input_cause_stage": self.stage,
            "input_cause_type": self.type,
            "input_cause_ms": _figure(self.stage_ms),
            "input_cause_call_ms": _figure(self.call_ms),
            "input_cause_sentence": self.sentence,
        }


def _figure(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6f}"
