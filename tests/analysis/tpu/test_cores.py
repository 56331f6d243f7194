"""Where TPU cores are, by what their planes say."""

from pathlib import Path

import pytest
from traces import drawn_space

from tbprof._pb import message
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.tpu.cores import Cores, find_cores
from tbprof.xplane.reader import read_space

MODULES = "XLA Modules |aaabb"


def details(**fields: object) -> dict[str, bytes]:
    core = message("tensorflow.profiler.CoreDetails")(**{"hostname": "h", **fields})
    return {"core_details": core.SerializeToString()}


def cores_of(stats: dict[str, dict[str, bytes]]) -> Cores:
    """Planes by the end of their names."""
    planes = {f"/device:{name}": MODULES for name in stats}
    plane_stats = {f"/device:{name}": own for name, own in stats.items()}
    runs = {"a": {"replica_id": 2}, "b": {"replica_id": 1}}
    space = drawn_space(planes, stats=runs, plane_stats=plane_stats)
    return find_cores(space, Programs(space))


RIGHT = {
    "TPU:0": details(device_ordinal=0, core_num=0, global_chip_id=4),
    "TPU:1": details(device_ordinal=1, core_num=1, global_chip_id=4),
    "TPU:0 SparseCore 1": details(
        device_ordinal=0, core_num=1, global_chip_id=4, is_sparse_core=True
    ),
}


def test_chips_of_the_pod_cores_of_chips_and_replicas():
    cores = cores_of(RIGHT)
    assert cores.name == list(RIGHT)
    assert cores.chip.tolist() == [4, 4, 4]
    assert cores.core.tolist() == [0, 1, 1]
    assert cores.replica.tolist() == [2, 2, 2]
    assert cores.doubts == []


@pytest.mark.parametrize(
    ("name", "fields", "said"),
    [
        ("TPU:1", {"device_ordinal": 7, "core_num": 1}, "those of device 7"),
        ("TPU:1", {"device_ordinal": 1, "core_num": 1, "hostname": "g"}, "host 'g', others 'h'"),
        ("TPU:1", {"device_ordinal": 1, "is_sparse_core": True}, "those of a SparseCore"),
        ("TPU:0 SparseCore 1", {"device_ordinal": 0, "core_num": 2}, "those of a TensorCore"),
    ],
)
def test_details_that_contradict_the_plane_are_left_out_and_said(name: str, fields, said: str):
    cores = cores_of({**RIGHT, name: details(**{"global_chip_id": 4, **fields})})
    at = cores.name.index(name)
    assert (cores.chip[at], cores.core[at]) == (-1, -1)
    assert (cores.chip >= 0).sum() == 2
    [doubt] = cores.doubts
    assert doubt.startswith(f"the core details of {name} are ignored: ")
    assert said in doubt


def test_two_cores_at_one_place():
    same = details(device_ordinal=1, core_num=0, global_chip_id=4)
    cores = cores_of({**RIGHT, "TPU:1": same})
    assert cores.chip.tolist() == [-1, -1, 4]
    assert [text.rpartition(": ")[2] for text in cores.doubts] == ["core 0 of chip 4"] * 2


def test_no_details_and_details_that_cannot_be_read():
    cores = cores_of({"TPU:0": {}, "TPU:1": {"core_details": b"\xff"}})
    assert cores.chip.tolist() == cores.core.tolist() == [-1, -1]
    assert cores.doubts == []


def test_the_cores_of_the_v6e_trace(tpu_trace: Path):
    space = read_space(tpu_trace)
    cores = find_cores(space, Programs(space))
    assert cores.name == [f"TPU:{index}" for index in range(4)]
    assert cores.doubts == []
    assert len(set(cores.chip.tolist())) == 4
