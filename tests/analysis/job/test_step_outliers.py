"""Which steps are outliers, and which of those recur, on steps made by hand."""

import itertools

import numpy as np
import pytest
from builders.job_steps import job_of
from hypothesis import given
from hypothesis import strategies as st

from tbprof.analysis.job.step_means import StepMeans, step_means
from tbprof.analysis.job.step_outliers import (
    StepOutliers,
    chance_of_period,
    find_outliers,
    typical,
)
from tbprof.analysis.vocabulary.phases import Phase

MORE = Phase.OTHER


def outliers_of(
    times: list[int],
    *,
    truncated: tuple[int, ...] = (),
    more: Phase = MORE,
    base: int | None = None,
    first: int = 0,
) -> tuple[StepMeans, StepOutliers]:
    """Steps of these µs: the shortest one's worth is compute, the rest of the phase `more`."""
    base = min(times, default=0) if base is None else base
    steps = [{"GPU:0": {Phase.COMPUTE_32: base, more: time - base}} for time in times]
    job = job_of(steps, truncated=truncated)
    means = step_means(job)
    return means, find_outliers(means, job.number + first)


def found(times: list[int], **more: object) -> list[int]:
    return outliers_of(times, **more)[1].step.tolist()  # type: ignore[arg-type]


def periods(times: list[int], **more: object) -> list[tuple[int, list[int]]]:
    found = outliers_of(times, **more)[1]  # type: ignore[arg-type]
    return [(period.period, period.step.tolist()) for period in found.periods]


def every(period: int, *, steps: int, offset: int, usual: int = 20, slow: int = 62) -> list[int]:
    return [slow if step % period == offset else usual for step in range(steps)]


def test_a_slow_first_step_is_an_outlier_and_no_average_is_of_it():
    times = [139, 3, 9, 4, 5, 6, 8, 3, 7, 5, 4, 6]
    means, outliers = outliers_of(times)
    assert outliers.step.tolist() == [0]
    assert means.mean_ms() == pytest.approx(199 / 12 / 1000)
    assert typical(means, outliers).mean_ms() == pytest.approx(60 / 11 / 1000)
    assert outliers.typical_ps == pytest.approx(60 / 11 * 1e6)
    assert outliers.excess_ps[0] == pytest.approx((139 - 60 / 11) * 1e6)
    assert (outliers.excess_ps[1:] == 0).all()
    assert not outliers.periods
    assert outliers.once.tolist() == [0]


def test_the_phase_that_most_of_the_excess_is_in():
    assert outliers_of([100, 10, 10, 10, 10], more=Phase.COMPILATION)[1].phase.tolist() == [
        Phase.COMPILATION, -1, -1, -1, -1,
    ]  # fmt: skip
    steps = [{"GPU:0": {Phase.COMPUTE_32: 10}} for _ in range(8)]
    steps[3] = {"GPU:0": {Phase.COMPUTE_32: 20, Phase.INPUT: 10, Phase.OTHER: 10}}
    job = job_of(steps)
    outliers = find_outliers(step_means(job), job.number)
    assert outliers.step.tolist() == [3]
    assert outliers.phase[3] == -1  # a third each


@pytest.mark.parametrize(
    ("times", "why"),
    [
        ([], "none"),
        ([500, 10, 10], "few steps are not compared"),
        ([10, 10, 10, 10], "equal ones"),
        ([10, 30] * 6, "two kinds of steps"),
        ([10, 30, 30, 10, 10, 10, 30, 10, 30, 10, 10, 10, 10], "a third of no order"),
        ([12277, 6178, 7856, 11144, 8494, 4507, 4033, 4059], "the JAX sample: they vary"),
        ([39, 32, 41, 32, 36, 28, 40, 35], "the TensorFlow sample"),
        ([3239, 2568, 2526, 2483], "four, of which one is a little slower"),
        ([0, 0, 0, 0, 0], "no time at all"),
    ],
)
def test_steps_that_merely_vary_are_what_they_are(times, why):
    assert found(times) == [], why


def test_a_step_far_beyond_others_that_vary_is_an_outlier_alone():
    warming_up = [2453, 158, 141, 101, 101, 98, 90, 101, 94, 99, 90, 100, 93, 100]
    assert found(warming_up) == [0]
    two_kinds = [10, 30, 30, 10, 10, 10, 30, 10, 30, 10, 10, 10, 10]
    assert found([200, *two_kinds]) == [0]
    assert found([60, *two_kinds]) == []  # two and a half times as much beyond the others


def test_one_of_four_may_be_an_outlier():
    assert found([500, 10, 11, 10]) == [0]


def test_steps_that_are_equal_to_the_rest_are_judged_by_a_part_of_the_median():
    usual = [100] * 19
    assert found([*usual, 114]) == []
    assert found([*usual, 116]) == [19]


def test_truncated_steps_are_neither_outliers_nor_compared():
    assert found([900, 10, 10, 10, 10], truncated=(0,)) == []


def test_what_recurs_in_each_fifth_step():
    times = every(5, steps=18, offset=0)
    _, outliers = outliers_of(times)
    (period,) = outliers.periods
    assert (period.period, period.step.tolist()) == (5, [0, 5, 10, 15])
    assert period.excess_ps == pytest.approx(42e6)
    assert period.cost_ps == pytest.approx(8.4e6)
    assert outliers.once.size == 0
    assert outliers.typical_ps == pytest.approx(20e6)


def test_a_third_of_the_steps_may_recur_and_half_of_them_are_the_steps_themselves():
    assert periods(every(3, steps=12, offset=2)) == [(3, [2, 5, 8, 11])]
    assert periods(every(2, steps=12, offset=1)) == []


def test_a_slow_first_step_is_apart_from_what_recurs():
    """Step 0 would be one of each fifth; it takes ten times as long."""
    times = every(5, steps=20, offset=0)
    times[0] = 600
    _, outliers = outliers_of(times)
    assert [(period.period, period.step.tolist()) for period in outliers.periods] == [
        (5, [5, 10, 15])
    ]
    assert outliers.once.tolist() == [0]
    assert outliers.periods[0].excess_ps == pytest.approx(42e6)


def test_a_slow_first_step_and_two_others_are_no_period():
    """As slow as each other; the first one because it warms up."""
    assert periods(every(7, steps=20, offset=0)) == []
    assert periods(every(6, steps=20, offset=0)) == [(6, [0, 6, 12, 18])]


def test_other_slow_steps_do_not_hide_a_period():
    times = every(6, steps=30, offset=4)
    times[1] = times[13] = 80
    _, outliers = outliers_of(times)
    assert [(period.period, period.step.tolist()) for period in outliers.periods] == [
        (6, [4, 10, 16, 22, 28])
    ]
    assert outliers.once.tolist() == [1, 13]


def test_the_last_step_may_lack_what_follows_the_others():
    """Four programs of a step, the last of which waits for the exchange that follows it."""
    times = every(4, steps=24, offset=3)
    times[-1] = 20
    assert periods(times) == [(4, [3, 7, 11, 15, 19])]


def test_two_periods():
    times = [40 if step % 4 == 3 else 20 for step in range(40)]
    for step in (5, 15, 25, 35):
        times[step] = 200
    assert sorted(periods(times)) == [
        (4, [3, 7, 11, 19, 23, 27, 31, 39]),  # 15 and 35 are of both
        (10, [5, 15, 25, 35]),
    ]


def test_what_stops_recurring_has_no_period():
    times = [20] * 40
    for step in (5, 10, 15):
        times[step] = 60
    assert periods(times) == []
    assert found(times) == [5, 10, 15]


def test_two_steps_recur_only_where_a_program_would_begin_a_period():
    times = [20] * 14
    times[5] = times[10] = 60
    assert periods(times) == [(5, [5, 10])]
    assert periods(times, first=1) == []  # steps 6 and 11
    assert periods(times, first=-1) == [(5, [5, 10])]  # 4 and 9: after each fifth
    times[10] = 90
    assert periods(times) == []  # not alike


def test_what_is_due_may_be_less_slow_than_what_stands_alone():
    """Steps of 12 to 24 µs, and checkpoints of different length: the TensorFlow program."""
    times = [12, 14, 18, 76, 20, 14, 16, 38, 21, 24, 13, 62]
    assert periods(times) == [(4, [3, 7, 11])]
    assert found([*times[:7], 17, *times[8:]]) == [3, 11]  # the middle one is not slow at all


def test_where_others_are_as_slow_nothing_recurs():
    times = [12, 38, 18, 76, 38, 14, 16, 38, 21, 38, 13, 62]
    assert periods(times) == []


def test_a_period_may_vary_by_one_step():
    times = [20] * 26
    for step in (4, 10, 15, 21):
        times[step] = 70
    assert periods(times) == [(6, [4, 10, 15, 21])]


def test_slow_steps_that_lie_about_as_far_apart_by_chance_are_no_period():
    """So do 3 of 12 steps in one of five placements, and 3 of 40 in one of eighty."""
    times = [20] * 12
    times[0] = times[3] = times[7] = 70
    assert periods(times) == []
    rare = [20] * 40
    rare[12] = rare[25] = rare[39] = 70
    assert periods(rare) == [(14, [12, 25, 39])]


def test_a_step_of_the_period_that_was_not_recorded_whole_is_no_objection():
    times = every(5, steps=18, offset=2)
    assert periods(times, truncated=(17,)) == [(5, [2, 7, 12])]


@given(st.lists(st.integers(1, 10**6), max_size=60))
def test_outliers_are_few_and_longer_than_what_is_typical(times):
    means, outliers = outliers_of(times)
    rest = typical(means, outliers)
    assert outliers.step.size <= max(1, len(times) * (1 / 3 + 0.2) + 1)
    assert outliers.step.size == 0 or 2 * rest.steps >= means.steps
    slow = means.duration_ps[outliers.is_outlier]
    assert (slow > np.median(means.duration_ps)).all() if slow.size else True
    assert (outliers.excess_ps >= 0).all()
    members = [step for period in outliers.periods for step in period.step.tolist()]
    assert len(set(members)) == len(members)
    assert set(members) | set(outliers.once.tolist()) == set(outliers.step.tolist())


@pytest.mark.parametrize(("second", "found"), [(Phase.INPUT, [5]), (Phase.OTHER, [])])
def test_two_steps_that_are_slow_for_different_things_are_no_period(
    second: Phase, found: list[int]
):
    slow = {4: {Phase.COMPUTE_32: 20, Phase.INPUT: 100}, 9: {Phase.COMPUTE_32: 20, second: 100}}
    job = job_of([{"GPU:0": slow.get(step, {Phase.COMPUTE_32: 20})} for step in range(12)])
    outliers = find_outliers(step_means(job), job.number)
    assert outliers.step.tolist() == [4, 9]
    assert [period.period for period in outliers.periods] == found


def test_how_many_periods_are_expected_by_chance():
    """Counted over all placements of the slow steps."""
    for steps, slow, members in ((9, 3, 3), (10, 4, 3), (11, 4, 3), (12, 4, 4), (8, 5, 3)):
        patterns = [
            set(range(first, steps, period))
            for period in range(3, steps)
            for first in range(period)
        ]
        placements = [set(places) for places in itertools.combinations(range(steps), slow)]
        found = sum(
            len(pattern) >= members and pattern <= places
            for pattern in patterns
            for places in placements
        )
        expected = found / len(placements)
        assert chance_of_period(steps, slow, members) == pytest.approx(expected)


def test_slow_steps_at_random_places_have_no_period():
    """Some are equally far apart by chance: in one of 20 such traces, and not in every third."""
    random = np.random.default_rng(7)
    recurring = 0
    for _ in range(300):
        times = 1000 + 10 * random.standard_normal(40)
        times[random.choice(40, 8, replace=False)] += 1000 * random.lognormal(0, 0.6, 8)
        recurring += bool(periods(times.astype(int).tolist()))
    assert recurring < 15


def test_two_slow_steps_recur_only_by_the_program_s_own_numbers():
    """Steps 4 and 9 of 12: the program does something before each fifth step."""
    steps = [{"GPU:0": {Phase.COMPUTE_32: 20, MORE: 40 * (index in (4, 9))}} for index in range(12)]
    job = job_of(steps)
    means = step_means(job)
    assert [period.period for period in find_outliers(means, job.number).periods] == [5]
    counted = find_outliers(means, None)
    assert counted.periods == ()
    assert counted.once.tolist() == [4, 9]
