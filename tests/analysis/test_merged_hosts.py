"""Merging hosts is a reduction: it may be done in groups and in any order."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.drawn.computed_parts import compute_parts
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import draw, space_of
from traces.runs import cpu_steps, gpu_steps, unmarked_ops

from tbprof.analysis.devices.devices import merge_devices
from tbprof.analysis.gpu.gpu_facts import merge_gpu_facts
from tbprof.analysis.gpu.kernels import merge_kernels
from tbprof.analysis.host.host_calls import merge_host_calls
from tbprof.analysis.input.input_ops import merge_input_ops
from tbprof.analysis.ops import op_metrics
from tbprof.analysis.tpu.tpu_ops import merge_tpu_ops

TPU = "/device:TPU:0"
TRACES = (
    cpu_steps("iiioooeeff"),
    cpu_steps("ooiippp", start_ns=500),
    unmarked_ops(),
    draw(
        {"/host:CPU": "t |aaaabb..ccc"},
        names={"a": "Iterator::Batch", "b": "Iterator::Batch::Map", "c": "Iterator::Prefetch"},
    ),
    gpu_steps("kkkmm.hhdd", "LLL"),
    gpu_steps("mm.kkkk.hh", "LL"),
    draw(
        {TPU: "XLA Ops |aaaaaa.bb.cc"},
        names={"a": "%fusion.1 = f32[8]{0} fusion(%p)", "b": "%copy.2", "c": "%add.3"},
        type_stats={"a": {"flops": 3, "bytes_accessed": 40}},
    ),
)
MERGES: dict[str, Callable[[Any], Any]] = {
    "ops": op_metrics.merge_op_metrics,
    "kernels": merge_kernels,
    "tpu_ops": merge_tpu_ops,
    "input_ops": merge_input_ops,
    "gpu_facts": merge_gpu_facts,
    "host_calls": merge_host_calls,
    "devices": merge_devices,
}
PARTS = [compute_parts(space_of(trace), *MERGES) for trace in TRACES]
# Several hosts of one job are alike.
HOSTS = st.lists(st.integers(0, len(TRACES) - 1), min_size=1, max_size=9)


def columns(part: Any) -> dict[str, Any]:
    values = {name: getattr(part, name) for name in part.__match_args__}
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in values.items()
    }


def rounded(value: Any) -> Any:
    """Sums of fractions depend on their order."""
    if isinstance(value, list):
        return [rounded(one) for one in value]
    if isinstance(value, float):
        return "unknown" if np.isnan(value) else float(f"{value:.9g}")
    return value


@pytest.mark.parametrize("name", MERGES)
@given(hosts=HOSTS, cut=st.integers(0, 9), size=st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_hosts_may_be_merged_in_groups(name, hosts, cut, size):
    merge, parts = MERGES[name], [PARTS[host][name] for host in hosts]
    groups = [parts[:cut], *(parts[start : start + size] for start in range(cut, len(parts), size))]
    merged = merge([merge(group) for group in groups if group])
    assert rounded(list(columns(merged).values())) == rounded(list(columns(merge(parts)).values()))


@pytest.mark.parametrize("name", ["ops", "kernels", "tpu_ops", "host_calls"])
@given(hosts=HOSTS, seed=st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_hosts_may_be_merged_in_any_order(name, hosts, seed):
    def rows(chosen: list[int]) -> list[str]:
        cells = columns(MERGES[name]([PARTS[host][name] for host in chosen]))
        lists = [rounded(value) for value in cells.values() if isinstance(value, list)]
        plain = [value for value in cells.values() if not isinstance(value, list)]
        return [*sorted(map(str, zip(*lists, strict=True))), str(plain)]

    assert rows(seed.sample(hosts, len(hosts))) == rows(hosts)


def test_many_hosts_are_merged_as_few_are(monkeypatch):
    parts = [PARTS[index % len(PARTS)]["ops"] for index in range(150)]
    in_groups = columns(op_metrics.merge_op_metrics(parts))
    monkeypatch.setattr(op_metrics, "_MERGED_AT_ONCE", len(parts))
    assert in_groups == columns(op_metrics.merge_op_metrics(parts))
