"""SparseCores beside the TensorCores of their chips: neither's figures are the other's."""

from dataclasses import replace

import pytest
from jobs import TpuJob, draw_tpu_job
from traces.tpu_steps import TPU, Op, Overview, tpu_steps

from tbprof.engine.engine import DataRequest
from tbprof.engine.timelines.timeline_requests import open_timeline
from tbprof.timeline.search.query import parse_query

SPARSE = "/device:TPU:0 SparseCore 0"
JOB = TpuJob(cores=2, steps=6, sparse_cores=2, sparse_us=20_000)
# Figures that are of TensorCores where there are any.
OF_CORES = (
    "flop_rate", "flop_utilization", "memory_bandwidth", "bandwidth_utilization", "device_busy",
    "step_time_average", "waiting_for_input", "device_compute_16",
)  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> tuple[Overview, Overview]:
    """The same job with SparseCores and without."""
    return tuple(
        Overview(tmp_path_factory.mktemp("job"), *draw_tpu_job(job).files.values())
        for job in (JOB, replace(JOB, sparse_cores=0))
    )  # type: ignore[return-value]


def test_figures_of_tensor_cores_are_the_same_beside_sparse_cores(both):
    beside, alone = both
    for name in OF_CORES:
        assert beside.figures[name] == pytest.approx(alone.figures[name]), name
    top, other = beside.tables[0], alone.tables[0]
    assert top.column("operation").cells() == other.column("operation").cells()
    assert top.column("selfTimePercent").cells() == other.column("selfTimePercent").cells()
    for name in ("device_idle_time_percent", "device_tf_op_percent"):
        assert top.properties[name] == other.properties[name]
    assert beside.shares == alone.shares
    assert beside.findings == alone.findings


def test_sparse_cores_have_figures_of_their_own(both):
    """20 ms of each step of 100 ms; 1 MFLOP and 1 GB in each: 10 GFLOP/s less the last idle."""
    beside, alone = both
    assert not any(name.startswith("sc_") for name in alone.figures)
    assert beside.figures["sc_step_time"] == pytest.approx(100.0)
    assert beside.figures["sc_busy"] == pytest.approx(20.0)
    # Of six steps, the last one until the end of its work.
    assert beside.figures["sc_flop_rate"] == pytest.approx(6 / 520, rel=1e-3)
    assert beside.figures["sc_memory_bandwidth"] == pytest.approx(6000 / 520, rel=1e-3)
    step = beside.step
    assert {name: step[name] for name in step if name.startswith("sc_")} == {
        "sc_compute_ms_average": "20.00",
        "sc_infeed_ms_average": "0.00",
        "sc_outfeed_ms_average": "0.00",
        "sc_idle_ms_average": "80.00",
        "sc_step_time_ms_average": "100.00",
    }
    assert step["tc_compute_ms_average"] == alone.step["tc_compute_ms_average"]


def test_an_op_on_both_is_two_rows_and_each_opens_its_own_events(tmp_path):
    """c runs 9 µs a step on the core and 3 on its SparseCore, in five steps."""
    shared = {"c": Op("gather", "%gather.1 = f32[8,128]{1,0:T(8,128)} gather()", "jit(f)/gather")}
    overview = Overview(
        tmp_path, tpu_steps({TPU: "ccccccccc...", SPARSE: "ccc........."}, shared)
    )  # fmt: skip
    table = overview.engine.tables(DataRequest(overview.run, "framework_op_stats"))[1]
    columns = ("host_or_device", "operation", "occurrences", "total_self_time")
    rows = [*zip(*(table.column(name).cells() for name in columns), strict=True)]
    assert rows == [("Device", "jit(f)/gather", 5, 45), ("SparseCore", "jit(f)/gather", 5, 15)]
    assert table.column("device_total_self_time_percent").cells() == [1, 0]
    host = overview.engine.run(overview.run).files[0].host
    timeline = open_timeline(overview.engine, overview.run, host, "events", None)
    for search, duration in (("device-op", 9), ("sparse-core-op", 3)):
        find = parse_query(f"{search}:jit(f)/gather")
        answer = timeline.search(find, limit=100, after="", from_ps=None, to_ps=None)
        assert answer.count(f'"duration_ps":{duration}000000'.encode()) == 5


def test_sparse_cores_alone_are_the_devices(tmp_path):
    overview = Overview(tmp_path, tpu_steps({SPARSE: "ccc..."}))
    assert overview.tables[0].column("operation").cells() == ["jit(f)/dot"]
    assert not any(name.startswith("sc_") for name in overview.figures)
