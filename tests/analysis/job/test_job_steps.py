"""Steps of several hosts: which are the same, and whose they are."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from builders.host_steps import host_steps

from tbprof.analysis.job import job_steps
from tbprof.analysis.job.job_steps import JobSteps, merge_steps
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.phases import PHASES, Phase

US = 1_000_000


def steps(
    *rows: tuple[int, int, int],
    kind: str = "GPU",
    workers: tuple[int, ...] = (0,),
    numbered: bool = False,
    epoch_us: int = 1000,
    truncated: tuple[int, ...] = (),
    name: str = "train",
    source: str = "markers",
) -> Steps:
    """Rows (number, start, duration in µs), the same for every worker."""
    count = len(rows) * len(workers)
    return host_steps(
        *(
            (place, number, start, {Phase.OTHER: duration})
            for place in range(len(workers))
            for number, start, duration in rows
        ),
        kind=kind,
        workers=len(workers),
        name=name,
        source=source if rows else "none",
        note="steps are marked" if rows else "nothing marks steps",
        epoch_ns=epoch_us * 1000,
        worker_name=[f"{kind}:{worker}" for worker in workers],
        worker_id=np.array(workers, np.int64),
        is_truncated=np.isin(np.arange(count) % max(len(rows), 1), truncated),
        has_explicit_numbers=numbered,
    )


def rows_of(job: JobSteps) -> list[tuple[str, str]]:
    """(label of the step, `host worker`) of every row."""
    return [
        (job.label[step], f"{job.hosts[job.worker_host[worker]]} {job.worker_name[worker]}")
        for step, worker in zip(job.step.tolist(), job.worker.tolist(), strict=True)
    ]


def test_one_host_keeps_its_numbers_and_order():
    job = merge_steps(["a"], [steps((7, 0, 10), (8, 10, 12), workers=(4, 6))])
    assert job.number.tolist() == [7, 8]
    assert rows_of(job) == [
        ("train 7", "a GPU:4"), ("train 7", "a GPU:6"),
        ("train 8", "a GPU:4"), ("train 8", "a GPU:6"),
    ]  # fmt: skip
    assert job.core_id.tolist() == [1, 2]
    assert job.duration_ps.tolist() == [10 * US, 10 * US, 12 * US, 12 * US]


def test_numbered_steps_meet_by_number_whatever_the_clocks_say():
    a = steps((3, 0, 10), (4, 10, 10), (5, 20, 10), numbered=True)
    b = steps((4, 0, 10), (5, 10, 10), (6, 20, 10), numbered=True, epoch_us=900_000)
    job = merge_steps(["a", "b"], [a, b])
    assert job.number.tolist() == [3, 4, 5, 6]
    assert rows_of(job) == [
        ("train 3", "a GPU:0"), ("train 4", "a GPU:0"), ("train 4", "b GPU:0"),
        ("train 5", "a GPU:0"), ("train 5", "b GPU:0"), ("train 6", "b GPU:0"),
    ]  # fmt: skip
    (notice,) = job.notices
    assert (notice.code, notice.host) == ("clocks_apart", "b")
    assert "899 ms later" in notice.message
    assert job.unpaired == frozenset()


def test_unnumbered_steps_meet_in_time():
    a = steps((0, 0, 10), (1, 10, 10), (2, 20, 10))
    b = steps((0, 8, 10), (1, 18, 10))  # overlaps most with the second and third of a
    job = merge_steps(["a", "b"], [a, b])
    assert job.step.tolist() == [0, 1, 1, 2, 2]
    assert job.worker.tolist() == [0, 0, 1, 0, 1]


def test_hosts_that_share_no_time_are_paired_in_order_and_it_is_said():
    a = steps((0, 0, 10), (1, 10, 10))
    b = steps((0, 0, 10), (1, 10, 10), epoch_us=900_000)
    job = merge_steps(["a", "b"], [a, b])
    assert job.step.tolist() == [0, 0, 1, 1]
    assert [(notice.code, notice.host) for notice in job.notices] == [("hosts_apart", "b")]
    assert job.unpaired == {1}


def test_hosts_without_a_common_step_number_stand_beside_each_other_and_it_is_said():
    """All at the same time: 20 steps of the job, and no mean of a step of one and of another."""
    a = steps(*((index, index * 10, 10) for index in range(10)), numbered=True)
    b = steps(*((index + 100, index * 10, 10) for index in range(10)), numbered=True)
    c = steps((3, 30, 10), (4, 40, 10), numbered=True)
    job = merge_steps(["a", "b", "c"], [a, b, c])
    assert sorted(job.label) == sorted(f"train {at}" for at in [*range(10), *range(100, 110)])
    shared = np.flatnonzero(np.bincount(job.step) > 1).tolist()
    assert [job.label[step] for step in shared] == ["train 3", "train 4"]
    (notice,) = job.notices
    assert (notice.code, notice.host) == ("no_common_step", "b")
    assert "train 100 to train 109" in notice.message
    assert job.unpaired == {1}


def test_a_host_without_steps_takes_none_from_the_others():
    job = merge_steps(["a", "b"], [steps((0, 0, 10)), steps()])
    assert rows_of(job) == [("train 0", "a GPU:0")]
    assert [(notice.code, notice.host) for notice in job.notices] == [("host_without_steps", "b")]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_coordinator_without_devices_takes_no_part(order: tuple[int, int]):
    parts = [steps((0, 0, 10), kind="CPU"), steps((0, 0, 10))]
    job = merge_steps(["x", "y"], [parts[at] for at in order])
    assert job.worker_kind == ["GPU"]
    assert job.notices == ()
    assert job.core_id.tolist() == [1 + 1000 * order.index(1)]


def test_numbers_that_start_anew_are_other_steps():
    part = steps((0, 0, 10), (1, 10, 10), (0, 20, 10), (1, 30, 10), numbered=True)
    job = merge_steps(["a", "b"], [part, part])
    assert job.number.tolist() == [0, 1, 0, 1]
    assert job.step.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_tpu_cores_keep_the_ids_of_their_planes():
    part = steps((0, 0, 10), kind="TPU", workers=(2, 5))
    assert merge_steps(["a", "b"], [part, part]).core_id.tolist() == [2, 5, 1002, 1005]


def test_cores_that_begin_late_or_end_early_are_said():
    """They would look like others in the averages of steps that they lack."""
    part = steps(*((index, index * 10, 10) for index in range(3, 8)), kind="TPU", workers=(0, 1, 2))
    # The first two steps of TPU:1 and the last one of TPU:2.
    kept = np.ones(15, bool)
    kept[[5, 6, 14]] = False
    rows = [field for field, value in part_fields(part) if len(value) == 15]
    fewer: dict[str, Any] = {field: taken(getattr(part, field), kept) for field in rows}
    job = merge_steps(["a"], [dataclasses.replace(part, **fewer)])
    assert [notice.code for notice in job.notices] == ["partial_devices"] * 2
    assert [notice.message for notice in job.notices] == [
        "TPU:1: recorded from step train 5 on; earlier steps have no figures for it.",
        "TPU:2: recorded up to step train 6; later steps have no figures for it.",
    ]
    assert merge_steps(["a", "b"], [part, part]).notices == ()


def part_fields(part: Steps) -> list[tuple[str, np.ndarray | list[str]]]:
    names = [field.name for field in dataclasses.fields(part)]
    return [
        (name, getattr(part, name))
        for name in names
        if isinstance(getattr(part, name), np.ndarray | list)
    ]


def taken(column: np.ndarray | list[str], kept: np.ndarray) -> np.ndarray | list[str]:
    if isinstance(column, np.ndarray):
        return column[kept]
    return [text for text, is_kept in zip(column, kept.tolist(), strict=True) if is_kept]


def test_averages_leave_truncated_steps_out_unless_there_are_no_others():
    some = merge_steps(["a"], [steps((0, 0, 10), (1, 10, 10), (2, 20, 3), truncated=(2,))])
    assert some.counted.tolist() == [True, True, False]
    alone = merge_steps(["a"], [steps((0, 0, 10), truncated=(0,))])
    assert alone.counted.tolist() == [True]


def test_the_same_parts_are_merged_once(monkeypatch: pytest.MonkeyPatch):
    one, other = steps((1, 0, 10), (2, 10, 10)), steps((1, 2, 10), (2, 12, 10))
    job = merge_steps(["a", "b"], [one, other])
    assert merge_steps(("a", "b"), (one, other)) is job
    for hosts, parts in (
        (["a", "c"], [one, other]),
        (["b", "a"], [other, one]),
        (["a"], [one]),
        (["a", "b"], [one, dataclasses.replace(other)]),
        (["a", "b"], [one, one]),
    ):
        merged = merge_steps(hosts, parts)
        assert merged is not job
        assert (merged.hosts, merged.parts) == (tuple(hosts), tuple(parts))
    monkeypatch.setattr(job_steps, "_MOST_KEPT", 3)
    large = merge_steps(["a", "b"], [one, other])
    assert merge_steps(["a", "b"], [one, other]) is not large


def test_no_host_has_steps():
    job = merge_steps(["a", "b"], [steps(), steps()])
    assert job.source == "none"
    assert job.note == "nothing marks steps"
    assert job.phase_ps.shape == (0, PHASES)
    assert job.counted.tolist() == []
    assert job.notices == ()


def test_ten_thousand_steps_on_many_workers_are_quick_to_align():
    rows = tuple((index, index * 10, 10) for index in range(2_000))
    parts = [steps(*rows, workers=(0, 1)) for _ in range(8)]
    job = merge_steps([f"h{index}" for index in range(8)], parts)
    assert np.bincount(job.step).tolist() == [16] * 2_000


def test_marked_steps_lead_and_inferred_ones_are_left_out():
    """4 steps of 20 that a program marks, beside an op every 3."""
    marked = steps(*((index, index * 20, 20) for index in range(4)), kind="CPU", numbered=True)
    guessed = steps(
        *((index, index * 3, 3) for index in range(27)), kind="CPU", source="pattern", name="o"
    )
    for hosts in (["a", "b"], ["b", "a"]):
        job = merge_steps(hosts, [{"a": marked, "b": guessed}[host] for host in hosts])
        assert (job.source, job.marker, job.is_inferred) == ("markers", "train", False)
        assert job.duration_ps.tolist() == [20 * US] * 4
        assert [job.hosts[index] for index in job.worker_host.tolist()] == ["a"]
        (notice,) = job.notices
        assert (notice.code, notice.host) == ("other_steps", "b")


def test_hosts_without_the_chosen_event_are_left_out():
    chosen = steps((0, 0, 10), (1, 10, 10), source="chosen", name="epoch")
    job = merge_steps(["a", "b"], [steps((0, 0, 20)), chosen])
    assert (job.source, job.label) == ("chosen", ["epoch 0", "epoch 1"])
    assert [(notice.code, notice.host) for notice in job.notices] == [("other_steps", "a")]
    assert "'epoch'" in job.notices[0].message


def test_inferred_steps_count_that_begin_alike_on_most_hosts_or_are_as_long():
    a = steps((0, 0, 100), (1, 100, 100), source="executions", name="f")
    b = steps(*((index, index * 3, 3) for index in range(60)), source="pattern", name="o")
    c = steps((0, 0, 20), (1, 20, 20), source="executions", name="f")
    d = steps((0, 0, 110), (1, 110, 110), source="pattern", name="g")
    job = merge_steps(["a", "b", "c", "d"], [a, b, c, d])
    assert [host for host, _ in job.step_parts] == ["a", "c", "d"]
    assert job.is_inferred
    assert ("other_steps", "b") in [(notice.code, notice.host) for notice in job.notices]
    assert merge_steps(["a", "b"], [a, b]).marker == "f"  # of one host each, the longer time


def lengths(*lasting: int, first: int = 0) -> list[tuple[int, int, int]]:
    """Rows of steps one behind the other."""
    ends = np.cumsum(lasting).tolist()
    return [(first + at, ends[at] - long, long) for at, long in enumerate(lasting)]


UNEVEN = (93, 107, 99, 112, 90, 104, 97, 101, 95, 109, 88, 103, 98, 111, 94, 106, 96, 100, 92, 105)


def codes(job: JobSteps) -> list[tuple[str, str]]:
    return [(notice.code, notice.host) for notice in job.notices]


@pytest.mark.parametrize("skew", [0, 40, 60, 250, 3_000])
def test_unnumbered_steps_are_the_same_where_their_lengths_are(skew: int):
    """A host that lacks the first two, and differs by a little, whatever its clock says."""
    a = steps(*lengths(*UNEVEN))
    b = steps(
        *lengths(*(long + at % 2 for at, long in enumerate(UNEVEN[2:]))), epoch_us=1200 + skew
    )
    job = merge_steps(["a", "b"], [a, b])
    assert [np.flatnonzero(job.worker == worker).size for worker in (0, 1)] == [20, 18]
    assert job.step[job.worker == 1].tolist() == list(range(2, 20))
    assert codes(job) == ([] if skew < 50 else [("clocks_apart", "b")])
    assert job.unpaired == frozenset()


@pytest.mark.parametrize("skew", [0, 40, 60, 100, 250])
def test_hosts_with_as_many_equal_steps_recorded_the_same_ones(skew: int):
    a = steps(*lengths(*[100] * 20))
    job = merge_steps(["a", "b"], [a, steps(*lengths(*[100] * 20), epoch_us=1000 + skew)])
    assert job.step.tolist() == [index // 2 for index in range(40)]
    assert codes(job) == ([] if skew < 50 else [("doubtful_pairs", "b")])


def test_equal_steps_of_a_host_with_fewer_meet_in_time():
    """By clocks that are right; where they fit two steps about as well, it is said."""
    a = steps(*lengths(*[100] * 20))
    for late, first, doubts in ((390, 4, []), (340, 3, [("doubtful_pairs", "b")])):
        job = merge_steps(["a", "b"], [a, steps(*lengths(*[100] * 10), epoch_us=1000 + late)])
        assert job.step[job.worker == 1].tolist() == list(range(first, first + 10))
        assert codes(job) == doubts
    job = merge_steps(["a", "b"], [a, steps(*lengths(*[100] * 19), epoch_us=940)])
    assert len(job.label) == 20  # none is outside of the lead's
    assert codes(job) == [("doubtful_pairs", "b")]


def test_steps_that_are_not_as_long_meet_in_time():
    """As many of two programs that do not wait for each other: clocks say what is beside what."""
    a = steps(*lengths(*[100] * 10))
    job = merge_steps(["a", "b"], [a, steps(*lengths(*[300] * 10), epoch_us=1000)])
    assert job.step[job.worker == 0].tolist() != job.step[job.worker == 1].tolist()
    assert set(codes(job)) <= {("doubtful_pairs", "b")}


def test_one_late_step_of_each_host_says_nothing_of_which_is_which():
    a = steps(*lengths(*[100] * 5, 300, *[100] * 14))
    b = steps(*lengths(*[100] * 9, 300, *[100] * 10))
    job = merge_steps(["a", "b"], [a, b])
    assert job.step.tolist() == [index // 2 for index in range(40)]


def test_steps_of_a_period_meet_where_the_clocks_say():
    """Every fifth step is longer: so they are four shifts on, of which the clocks know one."""
    a = steps(*lengths(*[100, 100, 100, 100, 150] * 6))
    b = steps(*lengths(*[100, 100, 100, 100, 150] * 5), epoch_us=1000 + 530)
    job = merge_steps(["a", "b"], [a, b])
    assert job.step[job.worker == 1].tolist() == list(range(5, 30))
    assert codes(job) == []


def test_a_host_without_numbers_meets_those_that_have_some():
    a = steps(*lengths(*UNEVEN, first=7), numbered=True)
    b = steps(*lengths(*UNEVEN[1:], first=8), numbered=True, epoch_us=1093)
    c = steps(*lengths(*UNEVEN[3:]), epoch_us=1299)
    job = merge_steps(["c", "b", "a"], [c, b, a])
    assert job.number.tolist() == list(range(7, 27))
    assert np.bincount(job.step).tolist() == [1, 2, 2, *[3] * 17]
    assert codes(job) == []


def test_steps_with_other_names_meet_by_number_where_they_last_as_long():
    a = steps((3, 0, 10), (4, 10, 10), (5, 20, 10), numbered=True)
    b = steps((3, 0, 11), (4, 11, 11), (5, 22, 11), numbered=True, name="step")
    job = merge_steps(["a", "b"], [a, b])
    assert job.label == ["train 3", "train 4", "train 5"]
    assert (codes(job), job.unpaired) == ([("other_names", "b")], frozenset())
    longer = steps((3, 0, 40), (4, 40, 40), (5, 80, 40), numbered=True, name="epoch")
    job = merge_steps(["a", "b"], [a, longer])
    assert len(job.label) == 6
    assert codes(job) == [("no_common_step", "a"), ("no_common_step", "b")]
