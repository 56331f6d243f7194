"""What the generator draws is what its truth says, and what recorders of TPUs write."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from helpers.drawn.drawn_steps import steps_of
from traces import message_of

from jobs import TpuJob, Work, draw_tpu_job
from tbprof.analysis.job.job_steps import merge_steps
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase

MS = 10**9


def lines(content: bytes, plane: str) -> dict[str, list[str]]:
    """The names of the events of each line of a plane."""
    found = next(one for one in message_of(content).planes if one.name == plane)
    names = found.event_metadata
    return {line.name: [names[event.metadata_id].name for event in line.events]
            for line in found.lines}  # fmt: skip


BUSY = TpuJob(
    steps=4, copy_us=1000, vmem_copy_us=2000, host_copy_us=3000, dcn_us=5000, callback_us=4000,
    gap_us=700, has_barrier=True, has_loop=True, megacore=True, megacore_us=900, sparse_cores=2,
    jitter=0.1, late=((0, 3, 800),), slow=((0, 1, 1.2),), slices=2, micro_steps=2,
)  # fmt: skip


def test_what_a_step_is_made_of_adds_up() -> None:
    truth = draw_tpu_job(BUSY).truth
    assert len(truth.rows) == 4 * (4 + 2 * 2)
    assert all(sum(row.work.values()) == row.duration_ps for row in truth.rows)
    for before, after in pairwise(truth.of(0, "/device:TPU:1")):
        assert before.start_ps + before.duration_ps == after.start_ps
    assert {kind for row in truth.rows for kind in row.work} == set(Work) - {Work.LAUNCH}
    assert truth.late == ((0, "/device:TPU:1"), (0, "/device:TPU:3"))


def test_the_same_job_is_the_same_bytes() -> None:
    assert draw_tpu_job(BUSY).files == draw_tpu_job(BUSY).files
    assert draw_tpu_job(replace(BUSY, seed=1)).files != draw_tpu_job(BUSY).files


def test_structure_is_that_of_a_recorded_trace(tpu_trace: Path) -> None:
    recorded = message_of(tpu_trace.read_bytes())
    (content,) = draw_tpu_job(TpuJob(steps=3, host_copy_us=500, has_barrier=True)).files.values()
    drawn = message_of(content)
    for plane in ("/device:TPU:1", "/host:metadata", "/host:CPU", "Task Environment"):
        real = next(one for one in recorded.planes if one.name == plane)
        made = next(one for one in drawn.planes if one.name == plane)
        stats = {entry.name for entry in made.stat_metadata.values()}
        known = {entry.name for entry in real.stat_metadata.values()} | {"_r", "step_num"}
        assert stats <= known
    real = next(one for one in recorded.planes if one.name == "/device:TPU:0")
    made = next(one for one in drawn.planes if one.name == "/device:TPU:0")
    assert {line.name for line in made.lines} - {"Steps"} <= {line.name for line in real.lines}
    assert [line.id for line in made.lines] == [1, 2, 3, 4, 6]


def test_a_clean_job_is_read_as_it_was_drawn() -> None:
    drawn = draw_tpu_job(TpuJob(steps=6, gap_us=0))
    steps = steps_of(drawn.files["host0"])
    assert steps.label == [f"train {number}" for number in drawn.truth.numbers] * 4
    assert steps.duration_ps.tolist() == [100 * MS] * 24
    by_phase = steps.phase_ps.sum(axis=0) / 24
    assert by_phase[Phase.INPUT] == drawn.truth.mean_ps(Work.INPUT) == 25 * MS
    assert by_phase[list(COMPUTE)].sum() == 50 * MS
    assert by_phase[Phase.COLLECTIVES] == 15 * MS
    assert by_phase[Phase.OUTPUT] == 3 * MS
    assert by_phase[Phase.OTHER] == 7 * MS


def test_hosts_whose_clocks_agree_share_their_steps() -> None:
    drawn = draw_tpu_job(TpuJob(hosts=2, cores=2, steps=5, drift_ppm=(0, 20.0)))
    parts = [steps_of(content) for content in drawn.files.values()]
    steps = merge_steps(tuple(drawn.files), parts)
    assert steps.label == [f"train {number}" for number in drawn.truth.numbers]
    assert Counter(steps.step.tolist()) == dict.fromkeys(range(5), 4)


def test_what_was_lost_is_not_in_the_trace() -> None:
    job = TpuJob(steps=5, cores=2, lost=((0, 1, 2),), lost_ops=((0, 0, 0, "infeed.1"),))
    drawn = draw_tpu_job(job)
    (content,) = drawn.files.values()
    assert lines(content, "/device:TPU:1")["Steps"] == ["0", "1", "3", "4"]
    assert lines(content, "/device:TPU:0")["Steps"] == ["0", "1", "2", "3", "4"]
    assert sum("infeed" in op for op in lines(content, "/device:TPU:0")["XLA Ops"]) == 4
    rows = {(row.device, row.number): row for row in drawn.truth.rows}
    assert not rows["/device:TPU:1", 102].is_recorded
    assert rows["/device:TPU:0", 100].is_recorded
    assert not rows["/device:TPU:0", 100].is_whole
    assert drawn.truth.whole_numbers == [101, 102, 103, 104]
    assert len(drawn.truth.counted()) == 7


def test_a_window_cuts_both_ends() -> None:
    drawn = draw_tpu_job(TpuJob(steps=5, cores=1, recorded_us=(50_000, 450_000)))
    (content,) = drawn.files.values()
    assert lines(content, "/device:TPU:0")["Steps"] == ["1", "2", "3"]
    assert drawn.truth.numbers == [100, 101, 102, 103, 104]
    assert drawn.truth.whole_numbers == [101, 102, 103]


def test_slices_need_an_equal_part_of_the_cores() -> None:
    with pytest.raises(ValueError, match="evenly"):
        draw_tpu_job(TpuJob(cores=3, slices=2))


def test_exchange_between_slices_is_named_by_its_runtime() -> None:
    (content,) = draw_tpu_job(TpuJob(steps=1, cores=2, slices=2, dcn_us=5000)).files.values()
    ops = lines(content, "/device:TPU:0")["XLA Ops"]
    assert sum('"xla_megascale_runtime"' in op for op in ops) == 4
    reduce = next(op for op in ops if "all-reduce(" in op)
    assert "replica_groups={{0},{1}}" in reduce
