"""What makes a program wait for its input: one diagnosis for all pages."""

import math
from typing import Literal

from tbprof.advice.guides import Guide
from tbprof.base.records import dataclass

TRY_APART = (
    "To find out whether input is the bottleneck, run the model on one batch kept in memory, and "
    "iterate over the loader without the model: work on the slower of the two."
)

CauseKind = Literal["stage", "pipeline", "transfer", "elsewhere", "unknown"]


@dataclass(frozen=True, slots=True)
class InputCause:
    """The cause of waits for input, and what to do.

    `kind` is "stage" for a stage of a tf.data pipeline; "pipeline" if the trace does not show which
    stage of it; "transfer" if data is on its way to devices; "elsewhere" if tf.data was recorded
    and is not slow; "unknown" if no input pipeline was recorded.

    `stage` is the long name of the stage, `type` its name in programs, "" without. It takes
    `stage_ms` of each call of its pipeline, which lasts `call_ms`, both on average; NaN without.
    `sentence` says that, `action` what to do.
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
        """Whether a stage takes at least half of the calls of its pipeline."""
        return self.kind == "stage" and 2 * self.stage_ms >= self.call_ms

    def properties(self) -> dict[str, str]:
        """The properties for scripts and other pages; "" without a figure."""
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
