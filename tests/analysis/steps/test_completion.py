"""The time before launched work starts, and after it until the program notices that it ended."""

import numpy as np
import pytest
from traces import drawn_space

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.host.single_ops import find_single_ops
from tbprof.analysis.job.idle_time import find_idle_time
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.analysis.vocabulary.phases import Phase

US = 1_000_000
NAMES = {
    "t": "train", "L": "cuGraphLaunch", "f": "$train.py:9 step", "k": "gemm", "h": "MemcpyH2D",
    "d": "MemcpyD2H", "D": "np.asarray(jax.Array)", "p": "DevicePut", "g": "jit_f:XLA GPU module",
    "a": "MemoryDeallocation", "M": "cuLaunchKernel", "m": "relu", "N": "cuLaunchKernelEx",
    "n": "softmax",
}  # fmt: skip
STATS = {
    "t": {"step_num": 1, "_r": 1},
    **{launch: {"correlation_id": 1 + index} for index, launch in enumerate("LMN")},
    **{
        kernel: {"correlation_id": 1 + index, "kernel_details": "regs:8"}
        for index, kernel in enumerate("kmn")
    },
}


def split(host: str, *streams: str, scale: int = 10) -> tuple[dict[str, int], int]:
    """(columns by phase, columns in completion) of a drawing of one step, of `scale` µs each."""
    phases, activities = split_others(host, *streams, scale=scale)
    return phases, activities.get(Activity.COMPLETION, 0)


def split_others(
    host: str, *streams: str, scale: int
) -> tuple[dict[str, int], dict[Activity, int]]:
    """(columns by phase, columns by activity in "All others") of such a drawing."""
    wide = [
        "\n".join(
            line.split("|")[0] + "|" + "".join(sign * scale for sign in line.split("|")[1])
            for line in drawing.splitlines()
        )
        for drawing in (host, "\n".join(streams))
    ]
    space = drawn_space({"/host:CPU": wide[0], "/device:GPU:0": wide[1]}, names=NAMES, stats=STATS)
    programs = Programs(space)
    steps = find_steps(space, programs)
    idle = find_idle_time(space, programs, find_single_ops(space, programs))
    assert (steps.phase_ps.sum(axis=1) == steps.duration_ps).all()
    assert idle.time_ps.sum() == steps.phase_ps[:, Phase.OTHER].sum()
    phases = {
        Phase(phase).name.lower(): int(steps.phase_ps[:, phase].sum()) // (scale * US)
        for phase in np.flatnonzero(steps.phase_ps.any(axis=0)).tolist()
    }
    kinds = idle.kind[idle.activity]
    activities = {
        Activity(kind): int(idle.time_ps[kinds == kind].sum()) // (scale * US)
        for kind in np.unique(kinds).tolist()
    }
    return phases, activities


def test_a_thread_that_waits_goes_on_after_the_work():
    """The frame of the caller is open all the time, since C++ methods have no frames."""
    phases, completion = split("main|tttttttttt\n |ffffffff..\n |.L", "Stream #1|..kkkk")
    assert phases == {"compute_unknown": 4, "kernel_launch": 1, "other": 5}
    assert completion == 2  # from 6 to the end of the frame


@pytest.mark.parametrize(
    ("host", "stream"),
    [
        pytest.param("main|tttttttttt\n |ffffffff..\n |.L..a.a.", "..kkkk", id="an event before"),
        pytest.param("main|tttttttttt\n |ffffffff..\n |.L", "..kkkk.k", id="the work goes on"),
        pytest.param("main|tttttttttt\n |.........f\n |.L", "..kk......", id="little work"),
    ],
)
def test_other_time_after_work_is_not_completion(host: str, stream: str):
    """The thread recorded events until then; the device went on at 7; it worked 2 of 7 columns."""
    assert split(host, f"Stream #1|{stream}")[1] == 0


def test_a_thread_that_records_nothing_for_long_does_something_else():
    host, stream = "main|tttttttttttttttt\n |ffffffffffffff..\n |.L", "Stream #1|..kkkkkkkkkk"
    assert split(host, stream, scale=900)[1] == 2
    assert split(host, stream, scale=1100)[1] == 0
    # Pauses of a few microseconds are those of a host that launches.
    assert split(host, stream, scale=5)[1] == 2
    assert split(host, stream, scale=4)[1] == 0


def test_copies_for_later_steps_delay_nothing_meanwhile():
    """A thread puts the next batch on the device while the program waits, and then launches."""
    host = "main|tttttttttttt\n |ffffffff.gg\n |.L.......LL\nloader|.....pppp"
    phases, completion = split(host, "Stream #1|..kkkk.....k", "Stream #2|......hhhh")
    assert completion == 2
    # From 8 to 9 the program does nothing else, and from 9 on it launches.
    assert phases == {"compute_unknown": 5, "kernel_launch": 3, "input": 1, "other": 3}


def test_reading_a_result_is_output_until_it_is_there():
    host = "main|tttttttttt\n |.L.DDDDDD."
    phases, completion = split(
        host, "Stream #1|..kkkk", "Stream #2|........hh", "Stream #3|.......d"
    )
    assert completion == 0
    # From 8 to 9 the host has not noticed the copy of the result.
    assert phases == {"compute_unknown": 4, "kernel_launch": 1, "output": 3, "input": 1, "other": 1}


LAUNCHES = "main|tttttttttttttttt\n |L...M...N"


def test_launched_work_that_an_idle_device_does_not_start():
    """The device starts `m` at once; `n` was launched by 9, and starts at 12 or later."""
    phases, activities = split_others(LAUNCHES, "Stream #1|.k...m......nnn", scale=100)
    assert activities[Activity.UNSTARTED] == 3
    assert phases == {"compute_unknown": 5, "kernel_launch": 3, "other": 8}
    # The program was waiting all along.
    assert activities[Activity.COMPLETION] == 1


@pytest.mark.parametrize(
    ("streams", "scale"),
    [
        pytest.param(["Stream #1|.k...m......n"], 60, id="less than 0.2 ms"),
        pytest.param(["Stream #1|.k......m...n"], 100, id="nothing starts at once"),
        pytest.param(["Stream #1|.k...m......n", "Stream #2|..........h"], 100, id="a copy"),
        pytest.param(["Stream #1|.k...mmmmmmmn"], 100, id="the device works"),
    ],
)
def test_other_time_before_work(streams: list[str], scale: int):
    _, activities = split_others(LAUNCHES, *streams, scale=scale)
    assert Activity.UNSTARTED not in activities
