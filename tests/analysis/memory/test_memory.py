"""What each allocator gave out and got back."""

from pathlib import Path

import numpy as np
import pytest
from traces import drawn_space
from traces.memory.memory_changes import GPU, US, give, memory_of, memory_space, take, texts

from tbprof.analysis.memory.memory import UNKNOWN_ALLOCATOR
from tbprof.analysis.memory.memory_events import MOST_BYTES
from tbprof.xplane.reader import read_space


def test_allocations_and_their_releases_with_all_that_is_known_of_them():
    facts = {"region_type": "output", "data_type": 1, "shape": "[4,1]", "peak_bytes_in_use": 90}
    memory = memory_of(
        memory_space([
            take(1, 7, 256, requested=200, heap=300, stack=10, free=690, op="model/a",
                 more={**facts, "fragmentation": 0.5}),
            give(3, 7, heap=44, stack=10, free=946, op="", more={"fragmentation": 2.0}),
        ])
    )  # fmt: skip
    assert memory.name == [GPU]
    assert memory.is_device.tolist() == [True]
    assert memory.is_summed.tolist() == [False]
    assert memory.first_event.tolist() == [0, 2]
    assert (memory.begin_ps, memory.end_ps) == (1 * US, 3 * US)
    assert memory.time_ps.tolist() == [1 * US, 3 * US]
    assert memory.is_allocation.tolist() == [True, False]
    assert memory.heap_bytes.tolist() == [300, 44]
    assert memory.stack_bytes.tolist() == [10, 10]
    assert memory.free_bytes.tolist() == [690, 946]
    assert memory.fragmentation[0] == 0.5
    assert np.isnan(memory.fragmentation[1])
    assert memory.lifetime_bytes.tolist() == [90, -1]
    # A release has what its allocation has.
    assert memory.requested_bytes.tolist() == [200, 200]
    assert memory.allocated_bytes.tolist() == [256, 256]
    assert memory.address.tolist() == [7, 7]
    assert memory.partner.tolist() == [1, 0]
    assert texts(memory, memory.op) == ["model/a"] * 2
    assert texts(memory, memory.region) == ["output"] * 2
    assert texts(memory, memory.dtype) == ["float"] * 2
    assert texts(memory, memory.shape) == ["[4,1]"] * 2
    assert sorted(memory.texts) == ["[4,1]", "float", "model/a", "output"]


def test_threads_are_put_in_order_of_time_with_their_own_starts():
    memory = memory_of(
        memory_space(
            [take(5, 1, heap=3), give(1, 1, heap=1)],  # out of order, too
            [take(1, 2, heap=2), take(3, 1, heap=4)],
            line_start_ns=[0, 1000],
        )
    )
    assert memory.time_ps.tolist() == [1 * US, 2 * US, 4 * US, 5 * US]
    assert memory.heap_bytes.tolist() == [1, 2, 4, 3]
    # 1 is released first, then given out twice.
    assert memory.partner.tolist() == [-1, -1, 3, -1]


def test_events_of_one_instant_keep_the_order_of_the_file():
    memory = memory_of(memory_space([take(1, 1), give(1, 1), take(1, 1)], [give(1, 1)]))
    assert memory.is_allocation.tolist() == [True, False, True, False]
    assert memory.partner.tolist() == [1, 0, 3, 2]


def test_a_release_without_allocation_has_none():
    memory = memory_of(memory_space([give(1, 1), take(2, 1), give(3, 1), give(4, 1)]))
    assert memory.partner.tolist() == [-1, 2, 1, -1]


def test_a_second_allocation_at_an_address_ends_the_first():
    memory = memory_of(memory_space([take(1, 1, op="a"), take(2, 1, op="b"), give(3, 1)]))
    assert memory.partner.tolist() == [1, 2, 1]
    assert texts(memory, memory.op) == ["a", "b", "b"]


def test_without_an_address_nothing_is_matched():
    memory = memory_of(memory_space([take(1, None), give(2, None), take(3, 0), give(4, 0)]))
    assert memory.address.tolist() == [0] * 4
    assert memory.partner.tolist() == [-1] * 4


def test_addresses_are_each_allocators_own():
    memory = memory_of(
        memory_space([take(1, 1), take(2, 1, owner="cpu"), give(3, 1, owner="cpu"), give(4, 1)])
    )
    assert memory.name == [GPU, "cpu"]
    assert memory.first_event.tolist() == [0, 2, 4]
    assert memory.partner.tolist() == [1, 0, 3, 2]


def test_devices_come_first_and_names_in_natural_order():
    owners = ["cpu", 10, "GPU_10_bfc", "gpu_host_bfc", 2, "GPU_2_bfc", None]
    memory = memory_of(memory_space([take(1, 1, owner=owner) for owner in owners]))
    devices = ["2", "10", "GPU_2_bfc", "GPU_10_bfc"]
    assert memory.name == [*devices, "cpu", "gpu_host_bfc", UNKNOWN_ALLOCATOR]
    assert memory.is_device.tolist() == [True] * 4 + [False] * 3


def test_allocators_of_one_name_are_told_apart():
    both = [{"allocator_name": "bfc", "device_ordinal": ordinal} for ordinal in (1, 0, 1)]
    own = [take(at, 1, owner=None, more=more) for at, more in enumerate(both)]
    memory = memory_of(
        memory_space(own, [take(9, 1, owner="cpu")],
                     processes={"/host:CPU [77]": [take(1, 1, owner="cpu")]})
    )  # fmt: skip
    assert memory.name == ["bfc (0)", "bfc (1)", "cpu", "cpu [77]"]
    assert np.diff(memory.first_event).tolist() == [1, 2, 1, 1]


def test_where_no_heap_is_recorded_it_is_summed():
    memory = memory_of(
        memory_space([
            give(0, 9, size=1000),  # was in use before, and is not counted
            take(1, 1, 100), take(2, 2, None, requested=10), take(3, 1, 5), give(4, 2),
            take(5, 3, 7, owner="cpu", heap=50), give(6, 3, owner="cpu"),
        ])
    )  # fmt: skip
    assert memory.is_summed.tolist() == [True, False]
    # The second one at 1 ends the first.
    assert memory.heap_bytes.tolist() == [0, 100, 110, 15, 5, 50, -1]


def test_without_addresses_heaps_are_summed_all_the_same():
    memory = memory_of(
        memory_space([
            give(0, None, size=5),  # more than is known of
            take(1, None, 100), take(2, None, 10), give(3, None, size=100), give(4, None),
        ])
    )  # fmt: skip
    assert memory.is_summed.tolist() == [True]
    assert memory.heap_bytes.tolist() == [0, 100, 110, 10, 10]


def test_sizes_that_are_missing_or_impossible_are_not_zero():
    memory = memory_of(
        memory_space([
            take(1, 1, None, heap=0),
            take(2, 2, -5, heap=-5),
            take(3, 2**64 - 1, 2**63, heap=2**64 - 1, free=2**63 - 1),
            take(4, 3, 0, more={"bytes_reserved": 1.5, "fragmentation": float("nan")}),
        ])
    )  # fmt: skip
    assert memory.allocated_bytes.tolist() == [-1, -1, min(MOST_BYTES, 2**62 // 4), 0]
    assert memory.requested_bytes.tolist() == [-1] * 4
    assert memory.heap_bytes.tolist() == [0, -1, MOST_BYTES, -1]
    assert memory.free_bytes.tolist() == [-1, -1, MOST_BYTES, -1]
    assert memory.stack_bytes.tolist() == [-1] * 4
    assert memory.address.tolist() == [1, 2, 2**64 - 1, 3]
    assert np.isnan(memory.fragmentation).all()


@pytest.mark.parametrize(
    ("number", "name"),
    [(0, ""), (1, "float"), (3, "int32"), (9, "int64"), (10, "bool"), (14, "bfloat16"),
     (19, "half"), (32, "uint2"), (101, "float_ref"), (33, "type 33"), (-1, "type -1"),
     ("F32", "F32")],
)  # fmt: skip
def test_data_types_by_number(number: int | str, name: str):
    memory = memory_of(memory_space([take(1, 1, more={"data_type": number})]))
    assert texts(memory, memory.dtype) == [name]


def test_a_trace_without_memory_events_has_no_allocators():
    for space in (memory_space(), memory_space([]), drawn_space({"/device:GPU:0": "s |a"})):
        memory = memory_of(space)
        assert memory.name == memory.texts == memory.step_label == []
        assert memory.first_event.tolist() == [0]
        assert memory.time_ps.size == memory.partner.size == memory.step.size == 0


def test_the_v100_trace_holds_the_events_of_the_reference(gpu_trace: Path):
    memory = memory_of(read_space(gpu_trace))
    assert memory.name == ["GPU_1_bfc", "GPU_4_bfc", "GPU_6_bfc", "gpu_host_bfc"]
    begin, end = memory.first_event[2:4].tolist()
    mine = slice(begin, end)
    assert (int(memory.is_allocation[mine].sum()), int((~memory.is_allocation[mine]).sum())) == (
        761,
        208,
    )
    at = begin + int(memory.heap_bytes[mine].argmax())
    assert memory.heap_bytes[at] == 6_210_111_488
    assert memory.free_bytes[at] == 9_266_990_912
    assert memory.stack_bytes[at] == 0
    assert memory.fragmentation[at] == pytest.approx(0.000961762)
    host = slice(end, int(memory.first_event[4]))
    frees = ~memory.is_allocation[host]
    assert (int((~frees).sum()), int(frees.sum())) == (318, 218)
    assert int((frees & (memory.partner[host] < 0)).sum()) == 11
