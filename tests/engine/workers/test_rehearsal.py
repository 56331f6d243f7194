"""The rehearsal touches what real traces need."""

from tbprof.engine.parts import PARTS
from tbprof.engine.workers.rehearsal import rehearse


def test_every_kind_of_device_and_event_is_rehearsed():
    waited: list[int] = []
    found = rehearse(lambda: waited.append(1))
    assert list(found) == list(PARTS)
    assert len(waited) == len(PARTS)
    assert (found["devices"].gpus, found["devices"].tpus) == (1, 1)
    assert len(found["steps"].label) > 2 * len(found["steps"].worker_name)
    assert found["kernels"].name == ["volta_sgemm_nn"]
    assert found["memory"].name == ["GPU_0_bfc"]
    assert found["tf_data"].long_name == ["Iterator::Prefetch::Map"]
    assert "fusion.1" in found["program_ops"].name
    assert found["host_calls"].name == ["train", "PjitFunction(train)"]
