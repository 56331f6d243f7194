"""Groups of real traces."""

from pathlib import Path

import numpy as np
import pytest

from tbprof.analysis.grouping.grouping import find_grouping, group_of_device_events
from tbprof.analysis.grouping.roots import names_at
from tbprof.xplane.reader import read_space


def sample(sample_logdir: Path, run: str) -> Path:
    return sample_logdir / "plugins" / "profile" / run / "host0.xplane.pb"


@pytest.mark.parametrize("run", ["tensorflow_cpu_training", "jax_cpu_training"])
def test_steps_that_the_program_marked_are_the_groups(run: str, sample_logdir: Path):
    space = read_space(sample(sample_logdir, run))
    roots = find_grouping(space).roots
    assert roots.label == [f"train {step}" for step in range(8)]
    assert roots.name == ["train"] * 8
    assert roots.number.tolist() == list(range(8))
    assert roots.is_marker.all()
    assert (np.diff(roots.start_ps) > 0).all()


@pytest.mark.parametrize("run", ["tensorflow_cpu_training", "jax_cpu_training"])
@pytest.mark.parametrize("follows_pools", [True, False])
def test_equal_steps_have_nearly_equal_groups(run: str, follows_pools: bool, sample_logdir: Path):
    """After the first step, which begins differently; what pools ran varies by a few marks."""
    space = read_space(sample(sample_logdir, run))
    (host,) = find_grouping(space, follows_pools=follows_pools).hosts
    counts = np.bincount(host.group[host.group >= 0], minlength=8)[1:]
    assert counts.max() - counts.min() <= 0.02 * counts.mean()


def test_all_ops_of_a_training_step_are_in_the_group_of_their_step(sample_logdir: Path):
    """TensorFlow: executor threads are reached by contexts; tf.data's own ops are in no step."""
    (host,) = find_grouping(read_space(sample(sample_logdir, "tensorflow_cpu_training"))).hosts
    rows = np.arange(len(host.events))
    texts = names_at(host.events, rows)
    ops = [row for row in rows.tolist() if texts[row].startswith(("sequential_1/", "adam/"))]
    steps = [row for row in rows.tolist() if texts[row] == "train"]
    start, end = host.events.start_ps, host.events.start_ps + host.events.duration_ps
    assert len(ops) > 8 * 20
    for row in ops:
        holder = [step for step in steps if start[step] <= start[row] and end[row] <= end[step]]
        assert [host.group[row]] == host.group[holder].tolist()
    captured = [row for row in rows.tolist() if texts[row].startswith("stateless_random_uniform")]
    assert captured
    assert (host.group[captured] == -1).all()


def test_xla_on_cpu_belongs_to_the_step_that_handed_it_to_a_pool(sample_logdir: Path):
    (host,) = find_grouping(read_space(sample(sample_logdir, "jax_cpu_training"))).hosts
    texts = names_at(host.events, np.arange(len(host.events)))
    thunks = np.flatnonzero([text.startswith("ThunkExecutor::Execute") for text in texts])
    steps = np.flatnonzero([text == "train" for text in texts])
    start = host.events.start_ps
    within = np.searchsorted(start[steps], start[thunks], side="right") - 1
    assert thunks.size > 8 * 5
    assert host.group[thunks].tolist() == within.tolist()


def test_groups_of_a_file_are_kept(gpu_trace: Path):
    space = read_space(gpu_trace)
    grouping = find_grouping(space)
    (host,) = grouping.hosts
    assert grouping.is_from_file
    assert np.bincount(host.group[host.group >= 0]).tolist() == [12456, 27, 1, 1, 27, 1, 1]
    assert grouping.roots.name == ["FunctionRun"] * 7
    assert grouping.roots.label == [str(group) for group in range(7)]
    assert not grouping.roots.is_marker.any()
    counts = {}
    for plane in space.planes:
        if plane.name.startswith("/device:GPU"):
            group = group_of_device_events(grouping, plane, plane.events())
            counts[plane.name[-1]] = np.bincount(group[group >= 0], minlength=1).tolist()
    assert counts == {**{str(gpu): [0] for gpu in range(8)}, "4": [3787], "6": [3773]}


def test_runs_of_a_program_are_one_group_on_all_tpu_cores(tpu_trace: Path):
    """Core 0 recorded 105 runs, the others 103: without the first two programs."""
    space = read_space(tpu_trace)
    grouping = find_grouping(space)
    assert len(grouping.roots) == 105
    assert not grouping.roots.is_marker.any()
    assert [core.group.size for core in grouping.cores] == [105, 103, 103, 103]
    first = {int(core.group[0]) for core in grouping.cores[1:]}
    assert first == {2}
    for group in range(2, 105):
        runs = [core.group == group for core in grouping.cores]
        start = max(core.start_ps[run][0] for core, run in zip(grouping.cores, runs, strict=True))
        end = min(core.end_ps[run][0] for core, run in zip(grouping.cores, runs, strict=True))
        assert start < end
