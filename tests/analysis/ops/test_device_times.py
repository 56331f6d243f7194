"""When TPU ops ran: the clock of the device against the times of the file."""

from collections.abc import Mapping

import numpy as np
import pytest
from helpers.drawn.drawn_devices import TPU, US, _lines, devices_of, rows
from traces import Unsigned, draw, message_of

from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.steps.recording_gaps import clock_doubts


def test_ops_nest_by_the_devices_clock_and_lie_among_the_other_lines():
    """The device's clock started 100 µs earlier; b ends with a there, here 1 µs later."""
    content = draw(
        {TPU: "XLA Ops |aaaa.c\n        |..bbb\nSteps |ssssss"},
        stats={
            "a": {"device_offset_ps": 100 * US, "device_duration_ps": 4 * US},
            "b": {"device_offset_ps": Unsigned(102 * US), "device_duration_ps": 2 * US},
            "c": {"device_offset_ps": 105 * US, "device_duration_ps": US},
        },
    )
    (device,) = devices_of(content)
    assert [row[:2] for row in rows(device)] == [(0, 2), (2, 2), (5, 1)]
    assert device.steps is not None
    assert (device.steps.start_ps.tolist(), device.steps.duration_ps.tolist()) == ([0], [6 * US])


def steady(
    file_starts: list[float], drift_us: float = 0, jumps: Mapping[int, float] | None = None
) -> DeviceIntervals:
    """A core that runs a program of one op of half a second each second, as a file states it.

    Starts are in seconds; the clock of the device begins at 100 s and is slower by `drift_us` per
    second, and ahead by what `jumps` says from such an op on. The program lasts as long as its op,
    or where the next one is too early as long as fits.
    """
    space = message_of(
        draw(
            {TPU: "XLA Ops |a.a.a\nXLA Modules |m.m.m\nAsync XLA Ops |s.s.s"},
            stats={"a": {"device_offset_ps": 0, "device_duration_ps": 0}},
        )
    )
    second = 10**12
    ops, modules, copies = space.planes[0].lines
    for line in (ops, modules, copies):
        while len(line.events) < len(file_starts):
            line.events.add().CopyFrom(line.events[0])
        del line.events[len(file_starts) :]
    for number, start in enumerate(file_starts):
        until = file_starts[number + 1] if number + 1 < len(file_starts) else 1e9
        for line in (ops, modules, copies):
            line.events[number].offset_ps = round(start * second)
            line.events[number].duration_ps = round(min(0.5, until - start) * second)
        clock = 100 * second + round(number * (second - drift_us * US))
        ahead = [by for first, by in (jumps or {}).items() if number >= first]
        clock += round(sum(ahead) * second)
        ops.events[number].stats[0].int64_value = clock
        ops.events[number].stats[1].int64_value = second // 2
    (device,) = devices_of(bytes(space.SerializeToString()))
    return device


def seconds(device: DeviceIntervals) -> list[float]:
    """The starts of a core's ops, after checking that its programs and copies agree with them."""
    is_op = ~np.isin(device.events.line[device.row], _lines(device, "Async XLA Ops"))
    runs = device.executions
    assert device.start_ps[is_op].tolist() == runs.start_ps.tolist()
    assert device.duration_ps[is_op].tolist() == runs.duration_ps.tolist()
    assert device.start_ps[~is_op].tolist() == runs.start_ps.tolist()
    assert np.abs(runs.duration_ps - 10**12 // 2).max() <= 10 * US
    return [start / 10**12 for start in runs.start_ps.tolist()]


def test_a_clock_that_drifts_is_followed():
    starts = [3 + number * (1 + 15e-6) for number in range(6)]
    assert seconds(steady([round(start, 6) for start in starts], drift_us=0)) == pytest.approx(
        starts
    )
    whole = [3.0 + number for number in range(200)]
    assert seconds(steady(whole, drift_us=15)) == pytest.approx(whole)


def test_programs_that_the_file_puts_wrong_are_put_right():
    """Two of five are late, and their ends are cut where the next one begins."""
    wrong = [2.0, 3.0, 4.7, 5.3, 6.0, 7.0, 8.8, 9.2, 10.0, 11.0]
    assert seconds(steady(wrong)) == pytest.approx(list(range(2, 12)), abs=1e-5)


@pytest.mark.parametrize("jumps", [{12: 5.0}, {12: -5.0}, {5: 1.0, 10: -1.0}, {0: 3.0, 15: 9.0}])
def test_a_clock_that_jumps_is_not_believed(jumps):
    starts = [2.0 + number for number in range(20)]
    device = steady(starts, jumps=jumps)
    assert seconds(device) == starts
    assert device.clock_jump_ps > 10**12 // 2
    (text,) = clock_doubts([device, steady(starts)])
    assert text.startswith("The clock of TPU:0 jumps by up to ")
    assert clock_doubts([steady(starts)]) == []


@pytest.mark.parametrize(
    ("jumps", "by"),
    [({12: 0.3}, 0.3), ({8: -0.02}, 0.02), ({5: 0.25, 13: -0.25}, 0.25), ({12: 0.005}, 0.0)],
)
def test_a_clock_that_jumps_by_less_than_recorders_err_is_seen_where_it_stays_so(jumps, by):
    """Each third program is put wrong by the recorder besides."""
    starts = [2.0 + number + (0.1 + 0.003 * number) * (number % 3 == 1) for number in range(20)]
    device = steady(starts, jumps=jumps)
    assert device.clock_jump_ps == pytest.approx(by * 10**12, abs=10**6)
    assert clock_doubts([device]) == [] or by
    if by:
        assert seconds(device) == starts
    assert steady(starts).clock_jump_ps == 0


def test_one_op_is_where_the_file_puts_it():
    assert seconds(steady([7.5])) == [7.5]


def test_ops_of_which_some_lack_the_devices_clock_keep_the_files():
    content = draw(
        {TPU: "XLA Ops |aa.bb"},
        stats={"a": {"device_offset_ps": 50 * US, "device_duration_ps": US}},
    )
    (device,) = devices_of(content)
    assert [row[:2] for row in rows(device)] == [(0, 2), (3, 2)]


@pytest.mark.parametrize("time", [2**63 - 1, -(2**63), 2**60])
@pytest.mark.parametrize("stat", ["device_offset_ps", "device_duration_ps"])
def test_impossible_device_times_are_not_believed(stat, time):
    clock = {"device_offset_ps": 9 * US, "device_duration_ps": US}
    content = draw({TPU: "XLA Ops |.aa.b"}, stats={"a": {**clock, stat: time}, "b": clock})
    (device,) = devices_of(content)
    is_negative_length = stat == "device_duration_ps" and time < 0
    assert is_negative_length or [row[:2] for row in rows(device)] == [(1, 2), (4, 1)]
