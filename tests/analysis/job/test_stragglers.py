"""Lateness by hand: of workers that exchange data, step by step against the median one."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from builders.couplings import coupling_of
from builders.host_steps import host_steps
from hypothesis import given, settings
from hypothesis import strategies as st

from tbprof.analysis.job.coupling import TRANSFER, Coupling
from tbprof.analysis.job.job_steps import JobSteps, merge_steps
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.job.stragglers import Lateness, Stragglers, find_stragglers
from tbprof.analysis.spans.confidence import mean_interval
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.phases import Phase

Cell = Mapping[Phase, int]
US = 1_000_000
COMPUTE, WAIT, INPUT = Phase.COMPUTE_32, Phase.COLLECTIVES, Phase.INPUT
TIED = coupling_of([f"GPU:{index}" for index in range(8)])


def part_of(
    *workers: Sequence[Cell],
    kinds: Sequence[str] = (),
    first: int = 0,
    start_us: int = 0,
    numbered: bool = True,
) -> Steps:
    """One host; a sequence of steps per worker, each the µs of its phases, from number `first`."""
    return host_steps(
        *(
            (worker, first + number, start_us + number * 100, cell)
            for worker, cells in enumerate(workers)
            for number, cell in enumerate(cells)
        ),
        workers=len(workers),
        worker_kind=list(kinds) or ["GPU"] * len(workers),
        has_explicit_numbers=numbered,
    )


def job(*workers: Sequence[Cell], kinds: Sequence[str] = ()) -> JobSteps:
    return merge_steps(["h"], [part_of(*workers, kinds=kinds)])


def stragglers_of(job: JobSteps, *couplings: Coupling) -> Stragglers:
    return find_stragglers(job, step_means(job), couplings or [TIED] * len(job.hosts))


def split(*cells: tuple[int, int]) -> list[Cell]:
    """Steps of (compute, wait) µs."""
    return [{COMPUTE: compute, WAIT: wait} for compute, wait in cells]


def test_who_waits_in_collectives_is_early_and_who_does_not_is_late():
    stragglers = stragglers_of(
        job(
            split(*[(6, 4)] * 3),
            split(*[(6, 4)] * 3),
            [{COMPUTE: 6, INPUT: 2, WAIT: 2}] * 3,
        )
    )
    assert stragglers == Stragglers(
        (Lateness(2, -1, 1, -1, 2.0 * US, 2.0 * US, 2.0 * US, 2.0 * US, 0.2, INPUT, 3, 3),),
        None,
        "",
    )


def test_the_figure_is_the_mean_of_paired_differences_with_its_interval():
    """Steps of 100 to 120 µs; the second worker takes 8, 10 or 12 µs longer in each."""
    base, more = [50, 60, 70, 50, 60, 70], [8, 10, 12, 12, 10, 8]
    stragglers = stragglers_of(
        job(
            split(*((at, 50) for at in base)),
            split(*((at + by, 50 - by) for at, by in zip(base, more, strict=True))),
        )
    )
    (late,) = stragglers.late
    assert (late.worker, late.reference, late.steps) == (1, 0, 6)
    assert late.late_ps == pytest.approx(10 * US)
    # t of 5 degrees of freedom at 97.5 %: 2.571; the deviation of `more` is 1.789.
    half = 2.571 * 1.789 / 6**0.5
    assert late.low_ps == pytest.approx((10 - half) * US, rel=1e-3)
    assert late.high_ps == pytest.approx((10 + half) * US, rel=1e-3)
    assert late.share == pytest.approx(10 / 110)


def test_nothing_is_claimed_of_workers_that_exchange_nothing():
    """The second GPU takes 3 of 6.5 µs longer; nobody waits for it as far as the trace shows."""
    stragglers = stragglers_of(job(split(*[(5, 0)] * 4), split(*[(8, 0)] * 4)), coupling_of(
        ["GPU:0", "GPU:1"], exchanges=()))  # fmt: skip
    assert stragglers.late == ()
    assert stragglers.reason == "uncoupled"
    assert stragglers.compared is not None
    assert (stragglers.compared.worker, stragglers.compared.late_ps) == (1, 3 * US)
    assert stragglers_of(job(split((5, 0)), split((8, 0))), coupling_of([])).reason == "uncoupled"


def test_one_step_proves_nothing():
    few = stragglers_of(job(split((50, 50), (50, 50)), split((80, 20), (80, 20))))
    assert (few.late, few.reason) == ((), "few_steps")
    assert few.compared is not None
    assert (few.compared.late_ps, few.compared.steps) == (30 * US, 2)


def test_a_step_that_is_late_once_is_no_late_worker():
    steps = [(50, 50)] * 11
    stragglers = stragglers_of(job(split((50, 50), *steps), split((90, 10), *steps)))
    assert (stragglers.late, stragglers.reason) == ((), "varies")


def test_others_that_do_not_wait_are_not_made_to():
    """Both spend 20 µs in collectives, and the second takes 30 µs longer: its steps are longer."""
    stragglers = stragglers_of(job(split(*[(50, 20)] * 5), split(*[(80, 20)] * 5)))
    assert (stragglers.late, stragglers.reason) == ((), "unmet")


def test_others_lose_no_more_than_they_wait():
    """The second takes 30 µs longer, of which the first meets 20 by waiting."""
    (late,) = stragglers_of(job(split(*[(50, 30)] * 5), split(*[(80, 10)] * 5))).late
    assert (late.late_ps, late.wait_ps) == (20 * US, 20 * US)


def test_programs_with_other_names_are_no_peers():
    """As late as above, but the second host runs other kernels."""
    parts = [part_of(split(*[(50, 50)] * 5)), part_of(split(*[(80, 20)] * 5))]
    both = merge_steps(["a", "b"], parts)
    assert len(stragglers_of(both).late) == 1
    other = coupling_of(["GPU:0"], ran=[200, 201, 202])
    assert stragglers_of(both, TIED, other).reason == "uncoupled"
    other = coupling_of(["GPU:0"], exchanges=[8])
    assert stragglers_of(both, TIED, other).reason == "uncoupled"
    # Libraries choose some kernels separately on every host.
    similar = coupling_of(["GPU:0"], ran=[100, 101, 202])
    assert len(stragglers_of(both, TIED, similar).late) == 1


def test_the_same_recording_as_two_hosts_shows_no_one_late():
    random = np.random.default_rng(1)
    part = part_of(split(*((int(own), 100 - int(own)) for own in random.integers(30, 70, 18))))
    stragglers = stragglers_of(merge_steps(["a", "b"], [part, part]))
    assert (stragglers.late, stragglers.reason) == ((), "alike")


def test_hosts_without_a_common_step_are_not_compared():
    a, b = split(*[(50, 50)] * 5), split(*[(80, 20)] * 5)
    numbered = merge_steps(["a", "b"], [part_of(a), part_of(b, first=100)])
    assert stragglers_of(numbered).late == ()
    assert stragglers_of(numbered).reason == "apart"
    in_order = merge_steps(
        ["a", "b"],
        [part_of(a, numbered=False), part_of(b, numbered=False, start_us=10**6)],
    )
    assert stragglers_of(in_order).late == ()
    # Each of them alone still tells of its own workers.
    both = merge_steps(["a", "b"], [part_of(a, a, b), part_of(a, first=100)])
    assert [one.worker for one in stragglers_of(both).late] == [2]


def test_never_more_than_half_of_the_workers_are_late():
    early, late = split(*[(50, 50)] * 5), split(*[(80, 20)] * 5)
    assert [one.worker for one in stragglers_of(job(early, late, late, early)).late] == [1, 2]
    assert stragglers_of(job(late, late, early)).late == ()
    assert [one.worker for one in stragglers_of(job(early, late)).late] == [1]


def test_sends_and_receives_tie_workers_too():
    """A stage of a pipeline waits for another one in a receive."""
    steps = [{COMPUTE: 20, Phase.DEVICE_TO_DEVICE: 80}] * 4, [{COMPUTE: 90}] * 4
    tied = coupling_of(["GPU:0", "GPU:1"], kind=TRANSFER)
    (late,) = stragglers_of(job(*steps), tied).late
    assert (late.worker, late.late_ps) == (1, 70 * US)
    assert stragglers_of(job(*steps)).reason == "unmet"  # without one, these are copies


@pytest.mark.parametrize(("extra", "reason"), [(1, "alike"), (2, "")])
def test_one_percent_of_the_step_is_the_threshold(extra: int, reason: str):
    early, late = split(*[(150, 49)] * 4), split(*[(150 + extra, 49 - extra)] * 4)
    assert stragglers_of(job(early, late, early)).reason == reason


def test_devices_that_met_outside_of_all_steps_are_not_compared():
    """As in a damaged trace: two devices of the CPU meet long after its steps."""
    ints = np.array([0, 0], np.int32), np.array([0, 1], np.int32)
    late = np.array([10**15, 10**15 + 5], np.int64)
    nothing = np.empty(0, np.int64)
    met = Coupling([], nothing.astype(np.int32), nothing, nothing.astype(np.int8), *ints, late,
                   late + 10)  # fmt: skip
    steps = job(split((10, 0), (10, 0), (10, 0)), kinds=["CPU"])
    assert stragglers_of(steps, met).reason == "alone"


def test_one_worker_and_sparse_cores_are_compared_with_no_one():
    assert stragglers_of(job(split((5, 0), (9, 0)))).reason == "alone"
    mixed = job(split((5, 0)), split((9, 0)), kinds=("TPU", "SparseCore"))
    assert stragglers_of(mixed).compared is None


def test_no_steps():
    assert stragglers_of(job([], [])) == Stragglers((), None, "apart")


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["normal", "skewed"])
@pytest.mark.parametrize("workers", [2, 3, 8])
def test_noise_is_hardly_ever_called_late(workers: int, noise: str):
    """Of 200 jobs whose workers differ by chance alone: in each the early wait for the latest.

    They are the same in each run: by chance, some other sample would exceed any limit.
    """
    random = np.random.default_rng(workers)
    claims = 0
    for _ in range(200):
        shape = workers, int(random.integers(1, 30))
        if noise == "normal":
            own = random.normal(500, 60, shape)
        else:
            own = 400 + random.exponential(80, shape)
        own = np.clip(own, 1, 2000).astype(int)
        wait = own.max(axis=0) - own + 5
        cells = zip(own.tolist(), wait.tolist(), strict=True)
        claims += bool(
            stragglers_of(job(*(split(*zip(*cell, strict=True)) for cell in cells))).late
        )
    assert claims <= 10


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**9))
def test_a_late_worker_is_found_in_noise(seed: int):
    """One of four takes 80 µs longer, where steps vary by 20."""
    random = np.random.default_rng(seed)
    own = random.normal(500, 20, (4, 16)).astype(int)
    own[2] += 80
    wait = own.max(axis=0) - own + 5
    cells = zip(own.tolist(), wait.tolist(), strict=True)
    late = stragglers_of(job(*(split(*zip(*cell, strict=True)) for cell in cells))).late
    assert late[0].worker == 2
    assert late[0].late_ps == pytest.approx(80 * US, rel=0.4)
    # In one of a thousand jobs chance names another beside it.
    assert all(one.late_ps < 30 * US for one in late[1:])
    assert late[0].low_ps < late[0].late_ps < late[0].high_ps


def test_an_interval_of_few_values():
    assert mean_interval(np.array([1.0, 2.0, 3.0]), 0.95) == pytest.approx(
        (-0.484, 4.484), abs=1e-3
    )
    assert mean_interval(np.full(4, 0.1) + 0.2, 0.95) == pytest.approx((0.3, 0.3))
    assert np.isnan(mean_interval(np.array([1.0]), 0.95)).all()
    many = np.random.default_rng(1).normal(5, 1, 1000)
    half = 1.96 * many.std(ddof=1) / 1000**0.5
    assert mean_interval(many, 0.95)[0] == pytest.approx(many.mean() - half, rel=1e-4)
