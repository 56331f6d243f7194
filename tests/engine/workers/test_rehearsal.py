"""The rehearsal touches what real traces need."""

from tbprof.engine.parts import PARTS
from tbprof.engine.workers.rehearsal import rehearse


def test_every_kind_of_device_and_event_is_rehearsed():
    waited: list[int] = []
    report = rehearse(lambda: waited.append(1))
    assert list(report) == list(PARTS)
    assert len(waited) == len(PARTS)
    assert (report["devices"].gpus, report["devices"].tpus) == (1, 1)
    assert len(report["steps"].label) > 2 * len(report["steps"].worker_name)
    assert report["kernels"].name == ["volta_sgemm_nn"]
    assert report["memory"].name == ["GPU_0_bfc"]
    assert report["tf_data"].long_name == ["Iterator::Prefetch::Map"]
    assert "fusion.1" in report["program_ops"].name
    assert report["host_calls"].name == ["train", "PjitFunction(train)"]
