"""Waits of TPU cores for each other: they are collectives, and the late core is named."""

import pytest
from helpers.promises.evidence_links import check_claim, claims
from jobs import TpuJob, Work, draw_tpu_job
from traces.tpu_steps import SECOND, TPU, Overview, tpu_steps

THIRD = "/device:TPU:2"
# Steps of 20: each core waits until the last one has come, then all compute.
CORES = {
    TPU: {"XLA TraceMe": "bbbbbb", "XLA Ops": "......cccccccccccccc"},
    SECOND: {"XLA TraceMe": ".bbbbb", "XLA Ops": "......cccccccccccccc"},
    THIRD: {"XLA TraceMe": ".....b", "XLA Ops": "......cccccccccccccc"},
}


def test_a_wait_for_other_cores_is_a_collective(tmp_path):
    """Of 60 µs of three cores 12 are waits for others and 6 nothing."""
    overview = Overview(tmp_path, tpu_steps(CORES, names={"b": "barrier-cores"}, steps=8))
    assert overview.shares["collectives"] == pytest.approx(20.0)
    assert overview.shares["other"] == pytest.approx(10.0)
    assert "all-reduces and other collectives" in overview.findings["collectives"].lower()
    assert "TPU:2" in overview.findings["straggler"].split(" makes")[0]
    for claim in claims(overview.engine, overview.run):
        if claim.id in ("collectives", "straggler"):
            check_claim(overview.engine, overview.run, claim)


@pytest.mark.parametrize("error_us", [0, 3_000])
def test_the_late_core_of_a_job_is_named(tmp_path, error_us):
    """Its program begins 12 ms after those of the others, in each step of 100 + 12 ms."""
    job = TpuJob(
        steps=10, has_barrier=True, late=((0, 2, 12_000),), all_reduce_us=5_000,
        file_error_us=error_us,
    )  # fmt: skip
    drawn = draw_tpu_job(job)
    overview = Overview(tmp_path, *drawn.files.values())
    truth = drawn.truth
    waits = truth.mean_ps(Work.BARRIER, Work.COLLECTIVE) / 1e9
    assert float(overview.step["device_collectives_time_ms_avg"]) == pytest.approx(waits, abs=0.2)
    finding = overview.findings["straggler"]
    assert finding.startswith("TPU:2 makes the others wait for 1")
    assert "longer per step" in finding
    assert "the median of its peers" in finding
    assert truth.late == ((0, "/device:TPU:2"),)
