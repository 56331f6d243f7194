"""Cell by cell: both tools on recorded traces, ours against xprof's.

Where the two agree they agree to 1 ns and nine digits. Where they do not, an entry of
`known_differences.py` says so; an entry that no longer differs fails.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.payloads import Row, rows
from parity.known_differences import (
    BOTH,
    CASES,
    DIFFERENCES,
    NEW_GPUS,
    ONLY_HERE,
    ONLY_IN_XPROF,
    _close,
    _is_idle,
)
from parity.oracle import OP_TABLES, Compare, Compared, by, renamed

from tbprof.base.errors import NoData

pytestmark = [pytest.mark.parity, pytest.mark.slow]

OPS, KERNELS = OP_TABLES
CAP = 500


def tables(pair: Compared, which: str) -> tuple[list[Row], list[Row]]:
    """(xprof's rows, ours) of ops, with idle time or without."""
    at = BOTH.index(which)
    return rows(pair.theirs[OPS][at]), rows(pair.ours(OPS)[at])


@pytest.fixture
def pair(case: str, compare: Compare, trace_of: Callable[[str], Path]) -> Compared:
    """Both tools' answers for one case."""

    def content(name: str) -> bytes:
        return trace_of(name).read_bytes()

    if case in NEW_GPUS:
        new = renamed(content("gpu_trace"), "level 0", "tf_op", "Nvidia")
        return compare(*[new] * (2 if case == "gpu_two_hosts" else 1))
    if case == "tpu_two_hosts":
        return compare(*[content("tpu_trace")] * 2)
    return compare(content(f"{case}_training" if case.endswith("_cpu") else f"{case}_trace"))


def _annotate(theirs: list[Row], ours: list[Row]) -> None:
    """Adds what differences need to know of the whole table: the side's sum, and the cap."""
    for side in ("Device", "Host"):
        own = [row for row in ours if row["host_or_device"] == side]
        shown = [row for row in theirs if row["host_or_device"] == side]
        least = min((row["total_self_time"] for row in shown), default=0.0)
        whole = sum(row["total_self_time"] for row in own)
        for row in own:
            row["_whole"] = whole
            row["_is_over_cap"] = len(shown) >= CAP - 1 and row["total_self_time"] <= least


def _compare(case: str, which: str, theirs: list[Row], ours: list[Row]) -> set[object]:
    """The entries that were needed; fails at a cell or row that none accounts for."""
    _annotate(theirs, ours)
    used: set[object] = set()
    here, there = by(ours, "host_or_device", "operation"), by(theirs, "host_or_device", "operation")
    for rows_, others, entries in ((here, there, ONLY_HERE), (there, here, ONLY_IN_XPROF)):
        for key in rows_.keys() - others.keys():
            alone = next(
                (one for one in entries if case in one.cases and one.holds(rows_[key])), None
            )
            assert alone is not None, f"{case}, {which}: {key} is in one of the two alone"
            used.add(alone)
    for key in here.keys() & there.keys():
        for name, theirs_value in there[key].items():
            value = here[key][name]
            is_number = isinstance(theirs_value, float) and isinstance(value, (int, float))
            if _close(theirs_value, value) if is_number else theirs_value == value:
                continue
            entry = next(
                (
                    one
                    for one in DIFFERENCES
                    if case in one.cases
                    and which in one.tables
                    and name in one.columns
                    and one.holds(there[key], here[key])
                ),
                None,
            )
            assert entry is not None, f"{case}, {which}, {key}, {name}: {theirs_value} != {value}"
            used.add((case, entry))
    return used


@pytest.mark.parametrize("case", CASES)
def test_op_tables_agree_but_for_what_is_listed(pair: Compared, case: str) -> None:
    used: set[object] = set()
    for which in BOTH:
        used |= _compare(case, which, *tables(pair, which))
    stale = [
        f"{entry.columns}: {entry.why}"
        for entry in DIFFERENCES
        if case in entry.cases and (case, entry) not in used
    ]
    assert not stale
    stale = [
        entry.why
        for entry in (*ONLY_HERE, *ONLY_IN_XPROF)
        if case in entry.cases and entry not in used
    ]
    assert not stale


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("which", BOTH)
def test_rows_that_both_show_are_in_one_order(pair: Compared, case: str, which: str) -> None:
    theirs, ours = (
        [(row["host_or_device"], row["operation"]) for row in table if not _is_idle(row)]
        for table in tables(pair, which)
    )
    shared = set(theirs) & set(ours)
    assert [key for key in ours if key in shared] == [key for key in theirs if key in shared]


LABELS = {
    "measured_flop_rate": ("Normalized FLOP Rate (FLOPs/s)", "Normalized FLOP Rate (GFLOP/s)"),
    "measured_memory_bw": ("Measured Memory BW (GBytes/Sec)", "Measured Memory BW (GiB/s)"),
}
# A column once more, under an id without the stray capital, and those that xprof has not.
MORE = ("host_cumulative_total_self_time_percent", "roof_note", "span_time")


@pytest.mark.parametrize("case", CASES)
def test_columns_are_those_of_xprof_with_honest_labels(pair: Compared, case: str) -> None:
    for which in (0, 1):
        theirs = pair.theirs[OPS][which]["cols"]
        ours = pair.ours(OPS)[which]["cols"]
        assert [one["id"] for one in ours] == [*(one["id"] for one in theirs), *MORE]
        for their, our in zip(theirs, ours, strict=False):
            if their["id"] in LABELS:
                assert (their["label"], our["label"]) == LABELS[their["id"]]
            else:
                assert their["label"] == our["label"]
            assert their["type"] == our["type"]
            is_percentage = "percent" in our["id"] or our["id"] == "gpu_tensorcore_utilization"
            assert our.get("pattern") == ("0.0%" if is_percentage else None)


@pytest.mark.parametrize("case", CASES)
def test_properties_are_those_of_xprof(pair: Compared, case: str) -> None:
    theirs, ours = dict(pair.theirs[OPS][0]["p"]), pair.ours(OPS)[0]["p"]
    if case == "jax_cpu":  # xprof sees no op of this trace, and so no gradient either
        assert (theirs.pop("task_type"), ours["task_type"]) == ("Inference", "Training")
    assert {name: ours[name] for name in theirs} == theirs


KERNEL = (
    "kernel_name", "op_name", "grid_dim", "block_dim", "registers_per_thread", "shmem_bytes",
    "is_op_tensor_core_eligible", "is_kernel_using_tensor_core",
)  # fmt: skip


@pytest.mark.parametrize("case", ["gpu_tf_op"])
def test_kernel_tables_agree(pair: Compared, case: str) -> None:
    theirs, ours = rows(pair.theirs[KERNELS]), rows(pair.ours(KERNELS))
    here, there = by(ours, *KERNEL), by(theirs, *KERNEL)

    assert (len(theirs), len(ours)) == (1000, 1330)  # xprof cuts
    assert not there.keys() - here.keys()
    for key, row in there.items():
        assert row.pop("occupancy_pct") == 0  # not recorded in 2020
        assert here[key]["occupancy_pct"] is None
        for name, value in row.items():
            mine = here[key][name]
            assert _close(mine, value) if isinstance(value, float) else mine == value, name
    assert [row["rank"] for row in ours] == list(range(1, 1331))
    assert all(row["total_duration_us"] <= theirs[-1]["total_duration_us"] for row in ours[1000:])


@pytest.mark.parametrize("case", ["gpu_two_hosts"])
def test_kernels_of_several_hosts_are_one_row_each(pair: Compared, case: str) -> None:
    theirs, ours = rows(pair.theirs[KERNELS]), rows(pair.ours(KERNELS))
    here = by(ours, *KERNEL)
    there: dict[tuple[Any, ...], list[Row]] = {}
    for row in theirs:
        there.setdefault(tuple(row[name] for name in KERNEL), []).append(row)

    assert (len(theirs), len(there), len(ours)) == (1000, 500, 1330)  # each kernel twice
    for key, (one, other) in there.items():
        merged = here[key]
        assert merged["occurrences"] == one["occurrences"] + other["occurrences"]
        total = one["total_duration_us"] + other["total_duration_us"]
        assert merged["total_duration_us"] == pytest.approx(total, rel=1e-12)
        assert merged["min_duration_us"] == min(one["min_duration_us"], other["min_duration_us"])
        assert merged["max_duration_us"] == max(one["max_duration_us"], other["max_duration_us"])


@pytest.mark.parametrize("case", ["gpu"])
def test_kernels_add_up_to_those_that_xprof_shows_without_ops(pair: Compared, case: str) -> None:
    theirs, ours = rows(pair.theirs[KERNELS]), rows(pair.ours(KERNELS))
    launch = ("kernel_name", "grid_dim", "block_dim", "registers_per_thread", "shmem_bytes")
    folded: dict[object, list[Row]] = {}
    for row in ours:
        folded.setdefault(tuple(row[name] for name in launch), []).append(row)
        assert row["op_name"]

    assert folded.keys() == by(theirs, *launch).keys()
    truncated = 0
    for row in theirs:
        own = folded[tuple(row[name] for name in launch)]
        count = sum(each["occurrences"] for each in own)
        total = sum(each["total_duration_us"] for each in own)
        assert row["op_name"] == ""  # the trace has its ops under `level 0`
        assert row["occurrences"] == count
        assert row["total_duration_us"] == pytest.approx(total, rel=1e-12)
        assert row["min_duration_us"] == min(each["min_duration_us"] for each in own)
        assert row["max_duration_us"] == max(each["max_duration_us"] for each in own)
        assert 0 <= total / count - row["avg_duration_us"] < 1e-3
        truncated += not _close(total / count, row["avg_duration_us"])
    assert truncated == 8  # the others divide evenly


@pytest.mark.parametrize("case", ["tpu", "tensorflow_cpu", "jax_cpu"])
def test_a_trace_without_gpus_has_no_kernels(pair: Compared, case: str) -> None:
    assert pair.theirs[KERNELS]["rows"] == []  # an empty page
    with pytest.raises(NoData):  # the reason
        pair.ours(KERNELS)
