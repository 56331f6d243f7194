"""The duty cycle of a TPU host: how long its chips worked and waited."""

from __future__ import annotations

import numpy as np

from tbprof.analysis.devices.device_clock import find_core_ops
from tbprof.analysis.devices.devices import CoreDetails
from tbprof.analysis.spans.layers import Spans, unite_all
from tbprof.analysis.tpu.cores import consistent_details
from tbprof.analysis.vocabulary.lines import named_lines, tpu_planes
from tbprof.base import names
from tbprof.events.space import Plane, Space

# Categories of ops in which a core waits for the host, a transfer or its other core. Source: xprof,
# tools-steps.md section 7, each category probed.
_OFF_DUTY = frozenset(
    {
        "infeed", "outfeed", "host send", "host send-done", "host recv", "host recv-done",
        "async-done", "megacore fusion",
    }
)  # fmt: skip
_MODULES_LINES = ("XLA Modules", "Sparse Core Modules")


def duty_cycle(space: Space) -> tuple[int, int]:
    """(busy, idle) in ps, summed over the chips of the host; (0, 0) without TPUs.

    A chip is busy while one of its cores runs an op that is not a wait. Its window is the time from
    the first start to the last end of all ops and programs on it.
    """
    planes = tpu_planes(space)
    chips: dict[int, list[Plane]] = {}
    for plane, details in zip(planes, consistent_details(planes)[0], strict=True):
        chips.setdefault(_chip(plane, details), []).append(plane)
    busy = idle = 0
    for planes in chips.values():
        on_duty, window = _chip_times(planes)
        busy += on_duty
        idle += max(window - on_duty, 0)
    return busy, idle


def _chip(plane: Plane, details: CoreDetails | None) -> int:
    """The chip of a core on its host; a core without consistent details counts as its own chip."""
    if details is not None:
        return details.local_chip
    number = plane.name.removeprefix(names.TPU_PREFIX).partition(" ")[0]
    # Negative, so that it differs from the numbers of chips.
    return -1 - int(number) if number.isascii() and number.isdigit() else -(2**40)


def _chip_times(planes: list[Plane]) -> tuple[int, int]:
    """(busy, window) in ps of the cores of one chip."""
    spans: list[Spans] = []
    first, last = 2**63 - 1, -(2**63)
    for plane in planes:
        ops = find_core_ops(plane, *names.OP_LINES)
        modules = plane.events(named_lines(plane, *_MODULES_LINES))
        module_start, module_duration = ops.clock.place(modules.start_ps, modules.duration_ps)
        for start, end in ((ops.begin, ops.end), (module_start, module_start + module_duration)):
            if start.size:
                first = min(first, int(start.min()))
                last = max(last, int(end.max()))
        category = plane.types.stats([names.HLO_CATEGORY])[names.HLO_CATEGORY].texts()
        texts = plane.strings.take(category.tolist())
        waits = np.array([text in _OFF_DUTY for text in [*texts, ""]], bool)
        works = ~waits[ops.events.type]
        spans.append((ops.begin[works], ops.end[works]))
    if last < first:
        return 0, 0
    begin, end = unite_all(spans)
    return int((end - begin).sum()), last - first
