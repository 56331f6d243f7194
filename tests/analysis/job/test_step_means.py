"""An average step, from steps made by hand."""

import math

import numpy as np
import pytest
from builders.job_steps import job_of

from tbprof.analysis.job.step_means import sample_deviation, step_means
from tbprof.analysis.vocabulary.phases import Phase

COMPUTE, INPUT, OTHER = Phase.COMPUTE_32, Phase.INPUT, Phase.OTHER


def test_a_step_is_the_mean_over_its_workers_and_its_phases_add_up():
    job = job_of(
        [
            {"GPU:0": {COMPUTE: 6, INPUT: 2}, "GPU:1": {COMPUTE: 4, OTHER: 8}},
            {"GPU:1": {COMPUTE: 4}},
        ],
        gaps={(0, "GPU:1"): 4},
    )
    means = step_means(job)
    assert (means.duration_ps / 1e6).tolist() == [10, 4]
    assert (means.own_ps / 1e6).tolist() == [8, 4]
    assert (means.gap_ps / 1e6).tolist() == [2, 0]
    assert (means.slowest_ps / 1e6).tolist() == [12, 4]
    assert means.workers.tolist() == [2, 1]
    assert means.phase_ps.sum(axis=1).tolist() == means.duration_ps.tolist()
    assert means.mean_ms() == pytest.approx(7e-3)
    assert means.mean_ms(COMPUTE) == pytest.approx(4.5e-3)
    assert means.share(INPUT, OTHER) == pytest.approx(100 * 5 / 14)
    assert means.share_of(means.gap_ps) == pytest.approx(100 * 2 / 14)


def test_truncated_steps_are_left_out_of_averages_unless_there_are_no_others():
    steps = [{"GPU:0": {COMPUTE: 1}}, {"GPU:0": {COMPUTE: 3}}]
    assert step_means(job_of(steps, truncated=[0])).mean_ms() == pytest.approx(3e-3)
    assert step_means(job_of(steps, truncated=[0])).steps == 1
    assert step_means(job_of(steps, truncated=[0, 1])).mean_ms() == pytest.approx(2e-3)


def test_sparse_cores_count_where_there_is_nothing_else():
    both = [{"TPU:0": {COMPUTE: 2}, "SparseCore:0": {COMPUTE: 8}}]
    kinds = {"TPU:0": "TPU", "SparseCore:0": "SparseCore"}
    assert step_means(job_of(both, kinds=kinds)).mean_ms() == pytest.approx(2e-3)
    alone = [{"SparseCore:0": {COMPUTE: 8}}]
    assert step_means(job_of(alone, kinds=kinds)).mean_ms() == pytest.approx(8e-3)


def test_equal_values_do_not_deviate():
    assert sample_deviation(np.full(7, 0.1) + 0.2) == 0
    assert sample_deviation(np.array([0.1 + 0.2, 0.3])) == 0
    assert sample_deviation(np.zeros(3)) == 0
    assert sample_deviation(np.array([1.0, 3.0])) == pytest.approx(math.sqrt(2))
    assert sample_deviation(np.array([1.0, 1.0 + 1e-9])) == pytest.approx(1e-9 / math.sqrt(2))
    assert math.isnan(sample_deviation(np.array([1.0])))


def test_without_steps_nothing_is_known():
    means = step_means(job_of([]))
    assert means.steps == 0
    assert math.isnan(means.mean_ms())
    assert math.isnan(means.share(INPUT))
    assert math.isnan(step_means(job_of([{"GPU:0": {}}])).share(INPUT))
