"""Channels and collectives of the pod viewer, on drawn jobs and by hand."""

from pathlib import Path
from typing import Any

import pytest
from jobs import TpuJob, draw_tpu_job
from jobs.drawn_job import DrawnJob, Truth
from jobs.pages import Pages
from traces import draw
from traces.programs import Program

F32 = "f32[64,128]{1,0}"
META = "/host:metadata"


def steps_of(drawn: DrawnJob, logdir: Path) -> list[Any]:
    """The pod viewer's steps."""
    return list(Pages.of(drawn, logdir).document("pod_viewer")["podStatsSequence"]["podStatsMap"])


def pipeline(host: str, cores: dict[str, str]) -> bytes:
    """A host whose cores run these steps: s, S send and r, R receive on channel 6 of a program."""
    program = Program()
    program.add("p", "parameter", F32)
    permute = program.add("permute.1", "collective-permute", F32, "p")
    permute.source_target_pairs.add(source=0, target=1)
    for name, operands in (("send", ["p"]), ("recv", [])):
        program.add(f"{name}.1", name, f"{F32}, u32[]", *operands).channel_id = 6
        program.add(f"{name}-done.1", f"{name}-done", F32, f"{name}.1").channel_id = 6
    letters = {"s": "send.1", "S": "send-done.1", "r": "recv.1", "R": "recv-done.1",
               "c": "permute.1", "f": "p"}  # fmt: skip
    stats: dict[str, Any] = {
        letter: {"program_id": 7, "hlo_category": program.named[name].opcode}
        for letter, name in letters.items()
    }
    planes = {
        f"/device:{core}": f"Steps |xxxxxxxxxx\nXLA Ops |{ops}" for core, ops in cores.items()
    }
    return draw(
        planes,
        names={letter: f"%{name} = {F32} x(%p)" for letter, name in letters.items()} | {"x": "4"},
        type_stats=stats,
        hostnames=[host],
        programs={"jit_f(7)": program.bytes()},
    )


def test_the_all_reduce_of_every_step(tmp_path: Path):
    """All cores end together; each has waited 15 ms, the slow ones' lead included."""
    job = TpuJob(steps=3, hosts=2, cores=2, slices=2)
    steps = steps_of(draw_tpu_job(job), tmp_path)
    assert len(steps) == 3
    for step in steps:
        assert step["channelDb"] == []
        assert step["allReduceOpDb"] == [
            {
                "name": "all-reduce.1",
                "opcode": "all-reduce",
                "occurrences": 1,
                # After 25 ms of input, 50 of compute and 7 of idling.
                "startUs": pytest.approx(82_000, abs=1),
                "durationUs": pytest.approx(15_000, abs=1),
                "dataSize": str(1024 * 4096 * 2),
                "replicaGroups": [{"replicaIds": ["0", "1"]}, {"replicaIds": ["2", "3"]}],
            }
        ]


def test_a_channel_between_two_cores_of_a_host(tmp_path: Path):
    """Core 1 waits from 1 on for what core 0 sends from 3 on, and has it at 6."""
    content = pipeline("h", {"TPU:0": "fffsSfffff", "TPU:1": "rRRRRRffff"})
    [step] = steps_of(DrawnJob({"h": content}, Truth(())), tmp_path)
    assert step["channelDb"] == [
        {
            "channelId": "6",
            "srcCoreIds": [0],
            "dstCoreIds": [1],
            "dataSize": str(64 * 128 * 4),
            "durationUs": 3.0,
            "sendDelayUs": 2.0,
            "occurrences": 1,
            "hloNames": ["recv-done.1", "recv.1", "send-done.1", "send.1"],
        }
    ]
    assert step["allReduceOpDb"] == []


def test_what_the_trace_does_not_say_has_no_field(tmp_path: Path):
    """Clocks of hosts differ; numbers of devices in a permutation are none of cores."""
    files = {
        "h0": pipeline("h0", {"TPU:0": "fffsScccff"}),
        "h1": pipeline("h1", {"TPU:0": "rRRRRcccff"}),
    }
    [step] = steps_of(DrawnJob(files, Truth(())), tmp_path)
    permute, channel = step["channelDb"]
    assert permute == {
        "sourceTargetPairs": [[0, 1]],
        "dataSize": str(64 * 128 * 4),
        "durationUs": 3.0,
        "sendDelayUs": 0.0,
        "occurrences": 1,
        "hloNames": ["permute.1"],
    }
    assert (channel["srcCoreIds"], channel["dstCoreIds"]) == ([0], [1000])
    assert not {"durationUs", "sendDelayUs", "utilization"} & set(channel)


def test_programs_that_are_not_in_the_trace(tmp_path: Path):
    steps = steps_of(draw_tpu_job(TpuJob(steps=2, has_hlo=False)), tmp_path)
    assert [step["allReduceOpDb"] for step in steps] == [[], []]


def test_core_ids_are_those_of_planes(tmp_path: Path):
    """As xprof has them, which leaves SparseCores out: 2, 10, 1002 and 1010."""
    steps = steps_of(draw_tpu_job(TpuJob(steps=2, hosts=2, cores=2, sparse_cores=1)), tmp_path)
    ids = {int(core): one["workerName"] for core, one in steps[0]["podStatsPerCore"].items()}
    host = {2: "TPU:0", 3: "TPU:0 SparseCore 0", 10: "TPU:1", 11: "TPU:1 SparseCore 0"}
    assert ids == host | {1000 + core: name for core, name in host.items()}
