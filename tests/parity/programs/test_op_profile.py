"""Op profiles beside those of xprof: TPUs to the digit, GPUs where xprof counts the same."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from parity.oracle import Compare

pytestmark = pytest.mark.parity

Nodes = dict[tuple[str, ...], dict[str, Any]]
GROUPINGS = ("program", "category", "provenance")
FUSED = ("constant", "broadcast", "add")
TRANSFERS = ("copy-start", "copy-done")


def nodes(tree: dict[str, Any]) -> Nodes:
    """The metrics of nodes by the names on the way to them; of the root by ()."""

    def walk(node: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[Any, Any]]:
        yield path, node
        for child in node["children"]:
            yield from walk(child, (*path, child["name"]))

    return dict(walk(tree, ()))


@pytest.fixture
def both(compare: Compare) -> Any:
    """(ours, xprof's) trees of a trace by the key of the answer."""

    def ask(path: Path, group_by: str) -> dict[str, tuple[Nodes, Nodes]]:
        found = compare(path.read_bytes(), tools=("op_profile",), group_by=group_by)
        theirs = found.theirs["op_profile"]
        ours = found.ours("op_profile", params={"group_by": group_by})
        assert set(ours) == set(theirs)
        assert ours["deviceType"] == theirs["deviceType"]
        keys = [key for key in theirs if key.startswith("by")]
        return {key: (nodes(ours[key]), nodes(theirs[key])) for key in keys}

    return ask


def differing(ours: dict[str, Any], theirs: dict[str, Any]) -> set[str]:
    """The figures in which two nodes differ by more than the rounding of a double."""
    return {
        name
        for name, value in theirs["metrics"].items()
        if ours["metrics"][name] != pytest.approx(value, rel=1e-9, abs=0)
    }


@pytest.mark.parametrize("group_by", GROUPINGS)
def test_of_tpus_every_figure_is_the_same(both, tpu_trace, group_by):
    for key, (ours, theirs) in both(tpu_trace, group_by).items():
        # What is inside of fusions, which takes no time, is in the graph.
        inside = {
            path
            for path in theirs
            if len(path) > 1 and path[-1].split(".")[0] in FUSED and "fusion" in path[-2]
        }
        assert inside
        assert set(ours) == set(theirs) - inside
        for path, node in ours.items():
            wrong = differing(node, theirs[path])
            # A transfer is stated once, from its start to its end.
            if any(part.startswith(TRANSFERS) for part in path):
                wrong -= {"bandwidthUtils", "rawBytesAccessedArray"}
            if path == () and not key.endswith("ExcludeIdle"):
                # xprof divides by the time without idle, and calls it that with it.
                assert wrong == {"flops", "uncappedFlops"}
                busy = theirs[path]["metrics"]["normalizedTimePs"]
                share = busy / theirs[path]["metrics"]["rawTime"]
                assert node["metrics"]["flops"] == pytest.approx(
                    theirs[path]["metrics"]["flops"] * share, rel=1e-9
                )
                wrong = set()
            assert not wrong, path


def test_of_tpus_transfers_are_stated_once_and_the_sum_is_the_same(both, tpu_trace):
    ours, theirs = both(tpu_trace, "program")["byProgram"]
    ((program,),) = [path for path in theirs if len(path) == 1 and path[0].startswith("jit_f(")]
    sums = [
        [tree[program, name]["metrics"]["rawBytesAccessedArray"][0] for name in TRANSFERS]
        for tree in (ours, theirs)
    ]
    assert sums[0] == [0, sum(sums[1])]
    start, done = (theirs[program, name]["metrics"]["bandwidthUtils"][0] for name in TRANSFERS)
    assert start == 1  # 6 TB in 9 µs
    assert 0 < ours[program, "copy-done"]["metrics"]["bandwidthUtils"][0] < done


@pytest.mark.parametrize("group_by", GROUPINGS)
def test_of_gpus_times_and_products_are_the_same(both, amd_trace, group_by):
    for ours, theirs in both(amd_trace, group_by).values():
        assert set(ours) == set(theirs)
        for path, node in ours.items():
            mine, other = node["metrics"], theirs[path]["metrics"]
            # Idle is what no kernel covers: some of them overlap by 0.5 µs in all.
            assert mine["rawTime"] == pytest.approx(other["rawTime"], rel=1e-3)
            if path and path[-1].startswith("gemm_fusion_dot"):
                assert mine["rawFlops"] == other["rawFlops"]
                assert mine["rawBytesAccessedArray"] == pytest.approx(
                    other["rawBytesAccessedArray"]
                )
                assert mine["occurrences"] == other["occurrences"]
                assert differing(node, theirs[path]) <= {
                    "normalizedTimePs", "flops", "uncappedFlops",
                }  # fmt: skip


def test_of_gpus_executions_count_and_calls_have_their_cost(both, amd_trace):
    ours, theirs = both(amd_trace, "category")["byCategory"]
    path = ("custom-call", "te_fused_attn_backward_ffi.18")
    mine, other = ours[path]["metrics"], theirs[path]["metrics"]
    assert (mine["occurrences"], other["occurrences"]) == (5, 25)
    assert (mine["avgTimePs"], other["avgTimePs"]) == (466_124_000, 93_224_800)
    assert other["rawFlops"] == other["rawBytesAccessedArray"][0] == 0
    assert mine["rawFlops"] == 5 * 85_941_288_960
    # An elementwise operation counts once, not three times.
    fusion = ("loop fusion", "loop_reduce_fusion")
    assert ours[fusion]["metrics"]["rawFlops"] * 3 == theirs[fusion]["metrics"]["rawFlops"]
    # So does what is normalized, of which xprof has nothing.
    assert (mine["normalizedTimePs"], other["normalizedTimePs"]) == (mine["rawTime"], 0)


def test_of_cpus_xprof_shows_nothing(both, sample_logdir):
    (path,) = Path(sample_logdir).glob("plugins/profile/jax_cpu_training/*.xplane.pb")
    ours, theirs = both(path, "program")["byProgram"]
    assert list(theirs) == [()]
    assert ("jit_train_step(26)", "dot", "dot") in ours
