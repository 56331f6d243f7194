"""What devices of recorded traces did when."""

from pathlib import Path

import numpy as np
from helpers.drawn.drawn_devices import US, _lines

from tbprof.analysis.gpu.gpu_events import find_gpu_kinds
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.device_phases import DeviceIntervals, find_device_intervals
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.events.space import Space
from tbprof.xplane.reader import read_space


def find(path: Path) -> tuple[Space, list[DeviceIntervals]]:
    space = read_space(path)
    return space, find_device_intervals(space, Programs(space))


def sums(device: DeviceIntervals) -> dict[str, int]:
    return {
        Phase(phase).name: int(device.duration_ps[device.phase == phase].sum())
        for phase in np.unique(device.phase).tolist()
    }


def test_the_v100_trace(gpu_trace):
    space, devices = find(gpu_trace)
    assert [(one.name, one.start_ps.size, int(one.is_kernel.sum())) for one in devices] == [
        ("GPU:1", 19, 0),
        ("GPU:4", 759, 665),
        ("GPU:6", 778, 665),
    ]
    assert sums(devices[0]) == {"INPUT": 33_792_000}
    steps = [one.steps for one in devices]
    assert steps[0] is None
    assert [(int(step.start_ps[0]), int(step.duration_ps[0])) for step in steps if step] == [
        (1921299828000, 19865491000),
        (2568855601000, 21310352000),
    ]
    # What xprof shows, rebuilt: `half` in the shapes of the op's inputs, all other events 32 bit.
    half = other = copies = 0
    by_name = 0
    for device in devices:
        grouped = device.events.stats(["group_id"], device.row)["group_id"].integers(-1) >= 0
        kinds = find_gpu_kinds(device.plane, Programs(space))
        is_half = np.array(["half" in text for text in kinds.shapes], bool)[device.event_kind]
        assert set(device.phase[is_half].tolist()) <= {Phase.COMPUTE_16}
        half += int(device.duration_ps[grouped & is_half].sum())
        other += int(device.duration_ps[grouped & ~is_half & device.is_kernel].sum())
        copies += int((grouped & ~device.is_kernel).sum())
        is_more = grouped & ~is_half & (device.phase == Phase.COMPUTE_16)
        by_name += int(device.duration_ps[is_more].sum())
        named = {device.event_name[kind] for kind in device.event_kind[is_more].tolist()}
        assert all("half" in name for name in named)
    # 20656208000 in xprof are these and 12 copies, less 12256000 in which both overlap.
    assert (half, other, copies) == (9054156000, 20636592000, 12)
    # Its casts to float16 and random float16 numbers have no `half` among their inputs.
    assert by_name == 13119446000


def test_the_tpu_trace(tpu_trace):
    _, devices = find(tpu_trace)
    assert [(one.name, one.executions.start_ps.size) for one in devices] == [
        ("TPU:0", 105), ("TPU:1", 103), ("TPU:2", 103), ("TPU:3", 103),
    ]  # fmt: skip
    busy = 0
    for device in devices:
        runs = device.executions
        assert device.steps is None
        assert {"COMPUTE_32", "COLLECTIVES", "HOST_TRANSFER"} == set(sums(device))
        # Every op lies within an execution of its program. These take equally long, other than the
        # file has it (551 to 982 ms): it puts some of them where they were not.
        is_async = np.isin(device.events.line[device.row], _lines(device, "Async XLA Ops"))
        start, duration = device.start_ps[~is_async], device.duration_ps[~is_async]
        at = np.searchsorted(runs.start_ps, start, "right") - 1
        late = start + duration - (runs.start_ps + runs.duration_ps)[at]
        assert at.min() >= 0
        assert late.max() < 2 * US
        is_step = np.array([name.startswith("jit_f") for name in runs.name], bool)[runs.kind]
        steps = np.diff(runs.start_ps[is_step])[1:-1]
        assert 783_700 * US < steps.min() <= steps.max() < 784_500 * US
        is_op = np.isin(device.events.line[device.row], _lines(device, "XLA Ops"))
        busy += int(device.duration_ps[is_op].sum())
        assert (start[1:] >= (start + duration)[:-1]).all()
    # The sum of self times of all ops by the device's clock is 315117903706250.
    assert abs(busy - 315117903706250) / busy < 2e-5
