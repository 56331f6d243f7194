"""Copies of TPU programs by the memories between which they go."""

import pytest
from jobs import TpuJob, Work, draw_tpu_job
from traces.tpu_steps import Overview


def test_copies_of_a_job_go_by_the_memories(tmp_path):
    """Of each step 12 ms to VMEM, 5 within the main memory and 30 from the host's."""
    drawn = draw_tpu_job(
        TpuJob(steps=6, cores=2, vmem_copy_us=12_000, copy_us=5_000, host_copy_us=30_000)
    )
    overview = Overview(tmp_path, *drawn.files.values())
    step, truth = overview.step, drawn.truth
    for name, kinds in (
        ("tc_compute_ms_average", (Work.COMPUTE_16, Work.COMPUTE_32, Work.COLLECTIVE)),
        ("tc_copy_ms_average", (Work.COPY,)),
        ("host_transfer_ms_average", (Work.HOST_COPY,)),
        ("tc_infeed_ms_average", (Work.INPUT,)),
    ):
        assert float(step[name]) == pytest.approx(truth.mean_ps(*kinds) / 1e9, abs=0.01), name
    assert step["host_transfer_ms_average"].startswith("30.0")
    assert step["tc_copy_ms_average"].startswith("17.0")
    copies = overview.findings["device_to_device"]
    assert "copies between HBM and the cores' own memory (VMEM) (copy-done.2" in copies
    assert "copies from the host (copy-done.3" in overview.findings["host_transfers"]
