"""Steps of which the recorder kept no kernels, and steps in which devices really did nothing."""

import dataclasses

import numpy as np
import pytest
from builders.evidence import NO_GPU, evidence
from helpers.drawn.drawn_steps import steps_of
from traces.lost_kernels import STEPS, lossy

from tbprof.advice.rules.findings import find_findings
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.job.job_steps import JobSteps, merge_steps
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.steps.recording_gaps import device_list, silent_notes
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.phases import Phase

FIRST, LAST = range(5), range(5, 10)
NONE: dict[int, range] = {}


def missing(steps: Steps) -> dict[str, list[int]]:
    """The numbers of the steps that were not recorded, by worker."""
    return {
        name: steps.number[(steps.worker == at) & steps.is_unrecorded].tolist()
        for at, name in enumerate(steps.worker_name)
        if (steps.is_unrecorded & (steps.worker == at)).any()
    }


def job_of(*parts: Steps) -> JobSteps:
    return merge_steps([f"h{index}" for index in range(len(parts))], parts)


def test_launches_without_their_kernels_are_steps_that_were_not_recorded():
    """Five executions of ten: the averages are of those that were."""
    steps = steps_of(lossy({0: FIRST}))
    assert missing(steps) == {"GPU:0": [5, 6, 7, 8, 9]}
    assert not steps.is_truncated.any()
    job = job_of(steps)
    means = step_means(job)
    assert means.workers.tolist() == [1] * 5 + [0] * 5
    assert means.is_counted.tolist() == [True] * 5 + [False] * 5
    assert means.mean_ms(Phase.COMPUTE_32) == pytest.approx(4e-3)
    assert means.mean_ms() == pytest.approx(10e-3)
    [notice] = job.notices
    assert (notice.code, notice.host) == ("unrecorded_steps", "")
    assert notice.message == (
        "GPU:0: steps train 5 to train 9 were not recorded; averages exclude them."
    )


@pytest.mark.parametrize("delay_us", [2, 25])
def test_a_device_that_was_recorded_late_is_averaged_over_fewer_steps(delay_us: int):
    """Of devices that keep up with the host and of such as run behind."""
    steps = steps_of(lossy({0: STEPS, 3: LAST}, delay_us=delay_us))
    assert missing(steps) == {"GPU:3": [0, 1, 2, 3, 4]}
    assert steps.worker_name == ["GPU:0", "GPU:3"]
    means = step_means(job_of(steps))
    assert means.workers.tolist() == [1] * 5 + [2] * 5
    assert means.steps == (10 if delay_us == 2 else 9)  # behind the host the last one has no gap
    assert means.mean_ms(Phase.COMPUTE_32) == pytest.approx(4e-3)
    assert (means.duration_ps[:9] == 10e6).all()


@pytest.mark.parametrize("delay_us", [2, 25])
def test_a_hole_in_the_recording(delay_us: int):
    recorded = [0, 1, 2, 6, 7, 8, 9]
    steps = steps_of(lossy({0: recorded}, delay_us=delay_us))
    assert missing(steps) == {"GPU:0": [3, 4, 5]}
    assert steps.number.tolist() == list(STEPS)
    assert (np.diff(steps.start_ps) > 0).all()
    # Behind the host steps go to the device's next one: nobody knows when 3 began, and 10.
    cut = [] if delay_us == 2 else [2, 9]
    assert steps.number[steps.is_truncated].tolist() == cut
    counted = np.flatnonzero(step_means(job_of(steps)).is_counted).tolist()
    assert counted == [at for at in recorded if at not in cut]
    assert step_means(job_of(steps)).mean_ms(Phase.COMPUTE_32) == pytest.approx(4e-3)


def test_a_step_of_which_a_part_was_lost_is_cut():
    steps = steps_of(lossy({0: range(6)}, pieces={(0, 5): 3}))
    assert missing(steps) == {"GPU:0": [6, 7, 8, 9]}
    assert steps.number[steps.is_truncated].tolist() == [5]
    # In the middle of the trace, too, if launches say so.
    steps = steps_of(lossy({0: STEPS}, pieces={(0, 4): 3}))
    assert missing(steps) == {}
    assert steps.number[steps.is_truncated].tolist() == [4]


def test_a_device_that_the_recording_cuts_off_has_no_whole_step():
    """The host launched all steps before the device did the first one."""
    steps = steps_of(lossy({0: [0]}, delay_us=105))
    assert missing(steps) == {"GPU:0": list(range(1, 10))}
    assert steps.number[steps.is_truncated].tolist() == [0]
    job = job_of(steps)
    given = dataclasses.replace(evidence(), job=job, means=step_means(job))
    first = find_findings(given)[0]
    assert first.id == "steps_not_recorded"
    assert first.title.startswith("Device work was recorded in only 1 of 10 steps")
    on_cpu = dataclasses.replace(given, devices=NO_GPU)
    assert find_findings(on_cpu)[0].title.startswith("The work of programs was recorded in only 1")
    # The first step ended before the next one was launched.
    steps = steps_of(lossy({0: [0]}))
    assert missing(steps) == {"GPU:0": list(range(1, 10))}
    assert not steps.is_truncated.any()


def test_a_device_that_does_nothing_in_a_step_did_nothing():
    """It evaluates each fourth step; its launches are those of the steps with kernels."""
    steps = steps_of(lossy({0: STEPS, 1: [3, 7]}, launches={0: STEPS, 1: [3, 7]}))
    assert missing(steps) == {}
    assert step_means(job_of(steps)).workers.tolist() == [2] * 10
    steps = steps_of(lossy({0: STEPS, 1: LAST}, launches={0: STEPS, 1: LAST}))
    assert missing(steps) == {}


def test_a_device_that_nothing_launches_for_may_be_idle():
    """No launches were recorded: without them only what all others show counts."""
    linked = lossy({0: STEPS, 1: [3, 7]}, launches=NONE)
    assert missing(steps_of(linked)) == {}


def test_where_launches_were_lost_as_well_the_runtime_tells():
    steps = steps_of(lossy({0: FIRST}, launches={0: FIRST}))
    assert missing(steps) == {"GPU:0": [5, 6, 7, 8, 9]}
    # Steps in which the runtime ran nothing are steps of the host alone.
    steps = steps_of(lossy({0: FIRST}, launches={0: FIRST}, dispatches=FIRST))
    assert missing(steps) == {}


def test_where_launches_were_lost_a_device_goes_on_with_what_its_peers_do():
    launches = {0: FIRST, 1: FIRST}
    linked = {0: FIRST, 1: range(4)}
    steps = steps_of(lossy(linked, launches=launches))
    assert missing(steps) == {"GPU:0": list(LAST), "GPU:1": [4, *LAST]}


def test_launches_for_other_devices_are_said():
    """One GPU of eight was recorded."""
    launched = dict.fromkeys(range(8), STEPS)
    trace = lossy({0: STEPS}, launches=launched, says_device=True, silent=range(1, 8))
    steps = steps_of(trace)
    assert (missing(steps), steps.lost_devices) == ({}, 7)
    assert steps.silent_device == [f"GPU:{index}" for index in range(1, 8)]
    [notice] = job_of(steps).notices
    assert notice.message == (
        "Work was launched for 7 more devices, but none was recorded: figures cover only GPU:0."
    )
    assert silent_notes(["h0"], [steps]) == []


def test_where_no_device_was_recorded_steps_are_not_known():
    """They are not steps of a program that left its devices idle."""
    launched = dict.fromkeys(range(8), STEPS)
    steps = steps_of(lossy({}, launches=launched, says_device=True, silent=range(8)))
    assert missing(steps) == {"CPU": list(STEPS)}
    job = job_of(steps)
    assert step_means(job).steps == 0
    given = dataclasses.replace(evidence(), job=job, means=step_means(job))
    assert "steps_not_recorded" in {finding.id for finding in find_findings(given)}
    assert job.notices[0].message == (
        "Work was launched for 8 devices, but none was recorded: device activity in the steps is "
        "unknown."
    )
    # A program on the CPU of a host with GPUs.
    steps = steps_of(lossy({}, silent=range(8), dispatches=[]))
    assert (missing(steps), steps.worker_kind) == ({}, ["CPU"])
    assert job_of(steps).notices == ()
    assert silent_notes(["h0"], [steps]) == []


@pytest.mark.parametrize("says_device", [False, True])
def test_what_one_device_lost_is_not_missing_on_another(says_device: bool):
    """One thread launches for both; the second one evaluates each fourth step."""
    recorded = [0, 1, 2, 3, 4, 6, 7, 8, 9]
    launches = {0: STEPS, 1: [3, 7]}
    steps = steps_of(lossy({0: recorded, 1: [3, 7]}, launches=launches, says_device=says_device))
    assert missing(steps) == {"GPU:0": [5]}
    partly = {(0, 5): 1}
    kernels = {0: STEPS, 1: [3, 7]}
    steps = steps_of(lossy(kernels, launches=launches, pieces=partly, says_device=says_device))
    assert missing(steps) == {}
    assert set(steps.number[steps.is_truncated].tolist()) == {5}
    # Where both launched and neither has kernels, both lack them.
    both = {0: STEPS, 1: STEPS}
    steps = steps_of(lossy({0: recorded, 1: recorded}, launches=both, says_device=says_device))
    assert missing(steps) == {"GPU:0": [5], "GPU:1": [5]}


def test_devices_without_a_trace_of_work_are_named():
    steps = steps_of(lossy({0: STEPS}, says_device=True, silent=range(1, 8)))
    assert steps.lost_devices == 0
    assert job_of(steps).notices == ()
    assert silent_notes(["h0"], [steps]) == [
        "The trace has no kernels from GPU:1 to GPU:7: figures cover only GPU:0."
    ]
    assert silent_notes(["h0", "h1"], [steps, steps])[1].startswith("h1: The trace has")
    assert silent_notes(["h0"], []) == []


def test_the_hosts_of_a_job_are_named():
    job = job_of(steps_of(lossy({0: STEPS})), steps_of(lossy({0: [0, 1, 2, 3, 4, 5, 6, 7, 8]})))
    [notice] = job.notices
    assert notice.host == "h1"
    assert notice.message == "GPU:0: step train 9 was not recorded; averages exclude it."
    assert step_means(job).workers.tolist() == [2] * 9 + [1]


def test_the_mi350_trace_lacks_nothing(amd_trace):
    from tbprof.xplane.reader import read_space

    space = read_space(amd_trace)
    steps = find_steps(space, Programs(space))
    assert missing(steps) == {}
    assert steps.lost_devices == 0
    assert steps.silent_device == [f"GPU:{index}" for index in range(1, 8)]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["GPU:0"], "GPU:0"),
        (["GPU:0", "GPU:1"], "GPU:0, GPU:1"),
        (["GPU:0", "GPU:2", "GPU:3", "GPU:4"], "GPU:0, GPU:2 to GPU:4"),
        ([f"GPU:{index}" for index in range(0, 14, 2)], "GPU:0, GPU:2, GPU:4, GPU:6 and 3 more"),
        (["GPU:x", "GPU:y"], "GPU:x, GPU:y"),
        ([], ""),
    ],
)
def test_names_of_devices(names: list[str], text: str):
    assert device_list(names) == text
