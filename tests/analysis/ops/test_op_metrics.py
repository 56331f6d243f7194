"""Ops are gathered by side and name."""

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.ops.op_metrics import (
    DEVICE,
    HOST,
    SPARSE_CORE,
    OpGatherer,
    merge_op_metrics,
)

MOST = 2**63 - 1


def counts(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def test_devices_come_first_each_op_where_it_was_first_seen():
    gatherer = OpGatherer()
    gatherer.add(HOST, ["b", "a"], ["", "A"], {"occurrences": counts(1, 2)})
    gatherer.add(SPARSE_CORE, ["c"], ["C"], {"flops": counts(7)})
    gatherer.add(DEVICE, ["b"], ["D"], {"occurrences": counts(4)}, {"is_eager": np.array([True])})
    gatherer.add(HOST, ["c", "b", "b"], ["C", "B", "X"], {"occurrences": counts(8, 16, 32)})
    gatherer.add_idle(HOST, 5)
    ops = gatherer.table()
    assert ops.name == ["b", "c", "b", "a", "c"]
    assert ops.type == ["D", "C", "B", "A", "C"]
    assert ops.is_device.tolist() == [True, False, False, False, False]
    assert ops.is_sparse_core.tolist() == [False, True, False, False, False]
    assert ops.occurrences.tolist() == [4, 0, 49, 2, 8]
    assert ops.flops.tolist() == [0, 7, 0, 0, 0]
    assert not ops.is_computed.any()
    assert ops.is_eager.tolist() == [True, False, False, False, False]
    assert (ops.host_idle_ps, ops.device_idle_ps) == (5, 0)
    both = merge_op_metrics([ops, ops])
    assert both.name == ops.name
    assert both.occurrences.tolist() == [8, 0, 98, 4, 16]
    assert both.is_eager.tolist() == ops.is_eager.tolist()
    assert both.host_idle_ps == 10


def test_sums_beyond_a_column_are_the_most_that_it_holds():
    gatherer = OpGatherer()
    huge = {"flops": counts(MOST, MOST - 1), "total_ps": counts(-MOST, MOST - 1)}
    for _ in range(3):
        gatherer.add(DEVICE, ["a", "b"], ["", ""], huge)
    gatherer.add(DEVICE, ["c"], [""], {"flops": counts(MOST)})
    ops = gatherer.table()
    assert ops.flops.tolist() == [MOST, MOST, MOST]
    assert ops.total_ps.tolist() == [-MOST, MOST, 0]


def test_no_ops_make_an_empty_table():
    ops = OpGatherer().table()
    assert ops.name == []
    assert ops.is_device.dtype == np.bool_
    assert ops.occurrences.dtype == np.int64
