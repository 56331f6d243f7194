"""Findings on GPUs that wait for arrays that their programs keep in host memory."""

from pathlib import Path

import pytest
from helpers.drawn.small_runs import one_run
from helpers.promises.evidence_links import check_claim, claims
from traces import draw
from traces.programs import Program

from tbprof.engine.engine import DataRequest

GPU = "/device:GPU:0"
# Of each step of 20 µs, 8 µs are a copy from the host, of which a kernel hides 2.
STREAMS = ("..cccccccc..........", "........kkkkkk......")


def copying(*, is_offloaded: bool, name: str = "MemcpyH2D", details: str = "") -> bytes:
    """Three steps with a copy by a program, of an array in host memory or of another."""
    program = Program()
    program.add("w", "parameter", f"f32[1000]{{0{':S(5)' if is_offloaded else ''}}}")
    program.add("c", "copy", "f32[1000]{0}", "w", op="jit(f)/device_put")
    program.add("k", "negate", "f32[1000]{0}", "c", op="jit(f)/neg")
    ran = {"program_id": 7, "hlo_module": "jit_f"}
    trace: bytes = draw(
        {
            "/host:CPU": f"python |{'s' * 20}{'t' * 20}{'u' * 20}",
            GPU: f"Stream #1 |{STREAMS[0] * 3}\nStream #2 |{STREAMS[1] * 3}",
        },
        names={"c": name, "k": "loop_negate", **dict.fromkeys("stu", "train")},
        stats={
            **{letter: {"_r": 1, "step_num": at} for at, letter in enumerate("stu")},
            "c": {**ran, "hlo_op": "c", "memcpy_details": details},
            "k": {**ran, "hlo_op": "k", "kernel_details": "regs:8 grid:1 block:32"},
        },
        programs={"jit_f(7)": program.bytes()},
    )
    return trace


@pytest.mark.parametrize(
    ("name", "details"),
    [
        ("MemcpyH2D", ""), ("MemcpyD2H", ""),
        ("MemcpyOther", "kind_src:pinned kind_dst:device size:4000"),
    ],
)  # fmt: skip
def test_a_program_that_copies_from_host_memory_waits_for_it(
    name: str, details: str, tmp_path: Path
):
    engine = one_run(tmp_path, h0=copying(is_offloaded=True, name=name, details=details))
    by_id = {claim.id: claim for claim in claims(engine, "run")}
    one = by_id["host_transfers"]
    assert one.title == "30.0 % of step time goes to copies between device and host memory"
    assert one.gain_ms == pytest.approx(6e-3)
    check_claim(engine, "run", one)
    # The link shows the instruction, with all of its time.
    assert (one.tool, one.view) == ("hlo_stats", {"f.bound_by": "=Host link"})
    (table,) = engine.tables(DataRequest("run", "hlo_stats"))
    columns = [table.column(id_).cells() for id_ in ("hlo_op_name", "bound_by", "total_time")]
    assert ("c", "Host link", 24.0) in [*zip(*columns, strict=True)]


def test_copies_of_other_arrays_are_input(tmp_path: Path):
    engine = one_run(tmp_path, h0=copying(is_offloaded=False))
    assert "host_transfers" not in {claim.id for claim in claims(engine, "run")}
