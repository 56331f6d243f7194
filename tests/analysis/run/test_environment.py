"""What a trace says of the run that it was recorded from."""

import math
from pathlib import Path

import numpy as np
import pytest
from traces import Unsigned, drawn_space

from tbprof._pb import message
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.run.environment import Environment, find_environment
from tbprof.events.space import Space
from tbprof.xplane.reader import read_space

HOST, GPU, TPU = "/host:CPU", "/device:GPU:0", "/device:TPU:0"
TASK = "Task Environment"
US = 10**6


def found_in(space: Space) -> Environment:
    return find_environment(space, Programs(space))


def environment(planes: dict[str, str], **options) -> Environment:
    return found_in(drawn_space(planes, **options))


def rows(names: list[str], values: list[str]) -> dict[str, str]:
    return dict(zip(names, values, strict=True))


def test_an_empty_trace_has_nothing_to_say():
    facts = environment({HOST: "t |"})
    assert facts.host_name == ""
    assert facts.kind == facts.version_name == facts.option_name == facts.detail_name == []
    assert (facts.start_epoch_ns, facts.window_ps) == (0, 0)
    assert not facts.is_window_stated
    assert facts.dropped_events == -1
    assert math.isnan(facts.mxu_pct)
    assert math.isnan(facts.hbm_pct)
    assert (facts.busy_ps, facts.idle_ps) == (0, 0)


def test_devices_count_as_recorded_and_as_active_where_they_have_a_line():
    facts = environment(
        {GPU: "Stream #1 |k", "/device:GPU:1": "", TPU: "XLA Ops |o",
         "/device:TPU:0 SparseCore 0": ""},
        hostnames=["h7", "other"],
    )  # fmt: skip
    assert facts.host_name == "h7"
    assert facts.kind == ["GPU", "TPU", "SparseCore"]
    assert facts.recorded.tolist() == [2, 1, 1]
    assert facts.active.tolist() == [1, 1, 0]


def test_a_gpu_with_derived_lines_alone_was_not_active():
    facts = environment({GPU: "Steps |k"}, line_ids={"Steps": 0xDEADBEEF})
    assert facts.active.tolist() == [0]


def test_the_window_is_the_recorders_own_where_it_says_so():
    stated = {TASK: {"profile_start_time": Unsigned(10**18), "profile_stop_time": 10**18 + 5000}}
    facts = environment({HOST: "t |..a", TASK: ""}, plane_stats=stated)
    assert facts.start_epoch_ns == 10**18
    assert (facts.window_ps, facts.is_window_stated) == (5000 * 1000, True)


@pytest.mark.parametrize(
    "stats",
    [{}, {"profile_start_time": 5}, {"profile_start_time": 5, "profile_stop_time": 4},
     {"profile_start_time": "x", "profile_stop_time": b"y"}],
)  # fmt: skip
def test_else_the_window_goes_from_the_first_event_to_the_last(stats):
    facts = environment({HOST: "t |..aa", GPU: "s |....kkk", TASK: ""}, plane_stats={TASK: stats})
    assert (facts.window_ps, facts.is_window_stated) == (5 * US, False)


def test_versions_are_those_of_all_planes():
    facts = environment(
        {"/host:metadata": "", GPU: ""},
        plane_stats={
            "/host:metadata": {"jax_version": "0.10.2", "jaxlib_version": "0.10.1",
                               "cpu_version": "cpu", "libtpu_version": "9", "blob_version": b"x"},
            GPU: {"cuda_version": 12040, "cuda_driver_version": "12080", "cuda_runtime_version": 0},
        },
    )  # fmt: skip
    assert rows(facts.version_name, facts.version_value) == {
        "JAX": "0.10.2",
        "jaxlib": "0.10.1",
        "libtpu": "9",
        "CUDA": "12.4",
        "CUDA driver": "12.8",
    }


def test_options_say_what_was_recorded():
    options = message("tensorflow.ProfileOptions")(
        host_tracer_level=2, device_tracer_level=1, python_tracer_level=1,
        include_dataset_ops=True, duration_ms=1500,
    )  # fmt: skip
    options.advanced_configuration["tpu_trace_mode"].string_value = "TRACE_ONLY_XLA"
    options.advanced_configuration["empty"].SetInParent()
    facts = environment(
        {TASK: ""}, plane_stats={TASK: {"profile_options": options.SerializeToString()}}
    )
    assert rows(facts.option_name, facts.option_value) == {
        "Host tracer level": "2",
        "Device tracer level": "1",
        "Python tracer level": "1",
        "tf.data ops": "recorded",
        "XLA programs (HLO)": "left out",
        "Requested duration": "1500 ms",
        "tpu_trace_mode": "TRACE_ONLY_XLA",
        "empty": "",
    }


@pytest.mark.parametrize("value", [b"\xff\xff", "text", 7])
def test_options_that_cannot_be_read_are_unknown(value):
    assert not environment({TASK: ""}, plane_stats={TASK: {"profile_options": value}}).option_name


@pytest.mark.parametrize(
    ("stats", "facts"),
    [
        ({"compute_cap_major": 7, "compute_cap_minor": 5, "core_count": 40,
          "memory_size": 16 * 2**30},
         {"Compute capability": "7.5 (Turing)", "Multiprocessors per device": "40",
          "Memory per device": "16.0 GiB"}),
        ({"compute_cap_major": 8, "compute_cap_minor": 9},
         {"Compute capability": "8.9 (Ada Lovelace)"}),
        ({"compute_cap_major": 99, "compute_cap_minor": 0}, {"Compute capability": "99.0"}),
        ({"compute_cap_major": 1, "compute_cap_minor": 0}, {"Compute capability": "1.0"}),
        ({"compute_cap_major": 9, "compute_cap_minor": 4, "device_vendor": "AMD"},
         {"Compute capability": "9.4"}),
        ({"device_vendor": "Nvidia"}, {}),
    ],
)  # fmt: skip
def test_what_gpus_say_of_themselves(stats, facts):
    found = environment({GPU: ""}, plane_stats={GPU: stats})
    assert rows(found.detail_name, found.detail_value) == facts


def test_counters_are_means_and_unknown_where_no_plane_has_them():
    facts = environment(
        {HOST: "", TPU: "", "/device:TPU:1": ""},
        plane_stats={
            HOST: {"matrix_unit_utilization_percent": 12.5},
            TPU: {"hbm_utilization_percent": 10.0, "dropped_traces": 3},
            "/device:TPU:1": {"hbm_utilization_percent": 30, "dropped_traces": 4},
        },
    )
    assert (facts.mxu_pct, facts.hbm_pct, facts.dropped_events) == (12.5, 20.0, 7)


def test_a_chip_is_busy_where_one_of_its_cores_works():
    """Chip 0 has two cores: busy [0, 4) and [6, 7), of [0, 9). Chip 1: busy [1, 3) of [1, 3)."""
    details = message("tensorflow.profiler.CoreDetails")
    facts = environment(
        {
            TPU: """
                XLA Ops     |wwfff....
                XLA Modules |mmmmmmmmm
            """,
            "/device:TPU:1": "XLA Ops |.www..wss",
            "/device:TPU:2": "XLA Ops |.ww",
        },
        type_stats={"w": {"hlo_category": "loop fusion"}, "f": {"hlo_category": "infeed"},
                    "s": {"hlo_category": "host send-done"}},
        plane_stats={
            TPU: {"core_details": details(local_chip_id=0).SerializeToString()},
            "/device:TPU:1": {"core_details": details(core_num=1).SerializeToString()},
            "/device:TPU:2": {"core_details": details(local_chip_id=1).SerializeToString()},
        },
    )  # fmt: skip
    assert (facts.busy_ps, facts.idle_ps) == ((5 + 2) * US, 4 * US)


def test_cores_of_unknown_chips_stand_alone():
    facts = environment(
        {TPU: "XLA Ops |ww.w", "/device:TPU:1": "XLA Ops |w.w", "/device:TPU:x": ""},
        plane_stats={TPU: {"core_details": b"\xff"}},
    )
    assert (facts.busy_ps, facts.idle_ps) == (5 * US, 2 * US)


def test_a_core_whose_details_contradict_its_plane_stands_alone():
    """The second core's details are those of a device that there is not."""
    details = message("tensorflow.profiler.CoreDetails")
    facts = environment(
        {TPU: "XLA Ops |ww.w", "/device:TPU:1": "XLA Ops |.www"},
        plane_stats={
            TPU: {"core_details": details().SerializeToString()},
            "/device:TPU:1": {
                "core_details": details(device_ordinal=7, core_num=1).SerializeToString()
            },
        },
    )
    assert (facts.busy_ps, facts.idle_ps) == (6 * US, 1 * US)


def test_the_duty_cycle_of_four_tpu_cores_is_that_of_xprof(tpu_trace: Path):
    facts = found_in(read_space(tpu_trace))
    # By the cores' own clocks, which differ from the file's by a ten-millionth.
    assert facts.busy_ps == pytest.approx(315122705519396, rel=1e-6)
    assert facts.idle_ps == pytest.approx(49077649552010, rel=1e-6)
    assert facts.recorded.tolist() == facts.active.tolist() == [4]
    assert facts.mxu_pct == 0.0


def test_eight_gpus_were_recorded_and_three_active(gpu_trace: Path):
    facts = found_in(read_space(gpu_trace))
    assert (facts.recorded.tolist(), facts.active.tolist()) == ([8], [3])
    assert np.array_equal(facts.kind, ["GPU"])
    assert facts.detail_value == ["7.0 (Volta)", "80", "15.8 GiB"]
