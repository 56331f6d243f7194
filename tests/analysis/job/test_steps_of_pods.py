"""Steps of drawn jobs on TPUs, on several hosts: those of the truth, whatever clocks say."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from jobs import DrawnJob, TpuJob, draw_tpu_job
from traces import space_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.job.coupling import Coupling, find_coupling
from tbprof.analysis.job.job_steps import JobSteps, merge_steps
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.job.stragglers import find_stragglers
from tbprof.analysis.steps.step_finding import find_steps

TWO = TpuJob(hosts=2, cores=2, gap_us=2000)
MIXED = replace(TWO, has_markers=False, jitter=0.05)


@dataclass(frozen=True)
class Found:
    drawn: DrawnJob
    job: JobSteps
    couplings: list[Coupling]

    @property
    def codes(self) -> list[tuple[str, str]]:
        return [(notice.code, notice.host) for notice in self.job.notices]

    @property
    def late(self) -> list[tuple[str, str]]:
        """(host, device) of the workers that others wait for."""
        job = self.job
        late = find_stragglers(job, step_means(job), self.couplings).late
        return [
            (job.hosts[job.worker_host[one.worker]], job.worker_name[one.worker]) for one in late
        ]


def found_in(job: TpuJob) -> Found:
    drawn = draw_tpu_job(job)
    spaces = [space_of(content) for content in drawn.files.values()]
    programs = [Programs(space) for space in spaces]
    parts = [find_steps(space, own) for space, own in zip(spaces, programs, strict=True)]
    couplings = [find_coupling(space, own) for space, own in zip(spaces, programs, strict=True)]
    return Found(drawn, merge_steps(list(drawn.files), parts), couplings)


def check(outcome: Found) -> None:
    """As many steps as were drawn, on all cores that have them, and as long on average."""
    rows = [row for row in outcome.drawn.truth.rows if row.is_recorded]
    job = outcome.job
    assert len(job.label) == len(outcome.drawn.truth.numbers)
    assert int((~job.is_unrecorded).sum()) == len(rows)
    assert step_means(job).mean_ms() == pytest.approx(outcome.drawn.truth.mean_ps() / 1e9, rel=1e-4)


@pytest.mark.parametrize("skew_us", [0, 60_000, -60_000, 1_000_000, 3_000_000])
def test_numbers_of_linked_markers_lead(skew_us: int):
    """On the second host, whose first core is slow."""
    found = found_in(replace(TWO, skew_us=(0, skew_us), slow=((1, 0, 1.3),)))
    check(found)
    assert found.job.label == [f"train {number}" for number in range(100, 120)]
    assert found.late == [("host1", "TPU:0")]
    assert found.codes == ([("clocks_apart", "host1")] if abs(skew_us) > 100_000 else [])


@pytest.mark.parametrize("steps_line", ["numbers", "unnumbered", "none"])
@pytest.mark.parametrize("skew_us", [20_000, 60_000, 3_000_000])
def test_without_markers_equal_structure_leads(steps_line: str, skew_us: int):
    """Steps that differ say which they are; the recorders count them from different numbers on."""
    found = found_in(replace(MIXED, skew_us=(0, skew_us), steps_line=steps_line, line_first=(0, 5)))
    check(found)
    apart = [("clocks_apart", "host1")] if skew_us > 50_000 else []
    assert [code for code in found.codes if code[0] != "doubtful_steps"] == apart
    assert ("doubtful_steps", "") in found.codes or steps_line != "unnumbered"


@pytest.mark.parametrize(
    ("skew_us", "code"), [(60_000, "doubtful_pairs"), (3_000_000, "hosts_apart")]
)
def test_steps_that_are_all_alike_are_paired_in_order_and_it_is_said(skew_us: int, code: str):
    found = found_in(replace(TWO, has_markers=False, skew_us=(0, skew_us)))
    check(found)
    assert found.codes == [(code, "host1")]
    assert found.late == []


def test_a_step_that_one_core_lost_is_left_out_there():
    found = found_in(replace(TWO, lost=((0, 1, 4),)))
    check(found)
    assert found.codes == [("unrecorded_steps", "host0")]
    assert found.late == []
    lost = np.flatnonzero(found.job.is_unrecorded)
    assert [found.job.label[step] for step in found.job.step[lost].tolist()] == ["train 104"]


@pytest.mark.parametrize("has_markers", [True, False])
def test_a_step_that_a_host_lost_is_left_out_there(has_markers: bool):
    found = found_in(replace(TWO, lost=((1, 0, 4), (1, 1, 4), (1, 0, 9)), has_markers=has_markers))
    check(found)
    assert int(found.job.is_unrecorded.sum()) == 3


def test_a_first_step_that_lost_its_infeed_is_not_whole():
    found = found_in(replace(TWO, lost_ops=((0, 1, 0, "infeed.1"),)))
    check(found)
    assert found.job.counted.tolist() == [False] + [True] * 19


def test_a_core_whose_recording_began_late_says_so():
    found = found_in(replace(TWO, late_recording=((0, 1, 250_000),)))
    assert found.codes == [("unrecorded_steps", "host0")]
    assert "TPU:1: steps train 100 to train 101" in found.job.notices[0].message
    assert np.flatnonzero(found.job.is_step_truncated).tolist() == [2]  # it began within that one
    check(found)


@pytest.mark.parametrize("is_linked", [True, False])
def test_a_window_that_cuts_both_ends(is_linked: bool):
    for until, cut in ((1_750_000, [0]), (1_800_000, [0, 16])):
        found = found_in(replace(TWO, recorded_us=(150_000, until), is_linked=is_linked))
        assert np.flatnonzero(found.job.is_step_truncated).tolist() == cut
        assert len(found.job.label) == len(found.drawn.truth.numbers)
        assert step_means(found.job).mean_ms() == pytest.approx(101.93, abs=0.07)


def test_programs_that_may_be_parts_of_a_step_are_said_to_be():
    """Four programs add up gradients before one exchanges them, and nothing marks steps."""
    job = replace(TWO, steps=5, has_markers=False, steps_line="none", micro_steps=4)
    (notice,) = found_in(job).job.notices
    assert (notice.code, notice.host) == ("doubtful_steps", "")
    assert "runs after every 4 executions of" in notice.message
    assert found_in(replace(job, micro_steps=1)).job.notices == ()
