"""Sets of small arrays as one."""

from contextlib import suppress

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tbprof.storage.bundles import bundle, unbundle
from tbprof.storage.packing import DAMAGE

ARRAYS = {
    "start": np.arange(7, dtype=np.int64),
    "flag": np.array([[True, False], [False, True]]),
    "empty": np.zeros((0, 3), np.float64),
    "strided": np.arange(20, dtype=np.uint16)[::3],
    "none": np.zeros(0, np.uint8),
}


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
        hnp.arrays(
            st.sampled_from([np.bool_, np.int8, np.uint32, np.int64, np.float32]),
            hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5),
        ),
        max_size=4,
    )
)
def test_any_numbers_come_back_where_words_begin(arrays):
    found = unbundle(bundle(arrays))
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        one = found[name]
        assert (one.dtype, one.shape) == (array.dtype, array.shape)
        assert one.tobytes() == array.tobytes()
        assert one.flags.aligned
        assert not one.flags.writeable


def test_texts_and_objects_are_refused():
    for array in (np.array(["a"]), np.array([{}])):
        with pytest.raises(ValueError, match="no numbers"):
            bundle({"a": array})


def test_what_is_cut_off_is_noticed():
    content = bundle(ARRAYS)
    for size in range(content.size):
        with suppress(*DAMAGE):
            unbundle(content[:size])
            assert content.size - size < 8  # what only fills up


@pytest.mark.parametrize(
    "rows",
    [{}, 1, [1], [[]], [["a", "O", [1]]], [["a", "<i8", [-1]]], [["a", "<i8", [1e300]]],
     [["a", "<i8", [1 << 60, 1 << 60]]], [["a", "nothing", [1]]], [["a", "<i8", ["b"]]]],
)  # fmt: skip
def test_foreign_headers_are_no_arrays(rows):
    header = orjson.dumps(rows)
    content = len(header).to_bytes(8, "little") + header + bytes(64)
    with suppress(*DAMAGE):
        assert not unbundle(np.frombuffer(content, np.uint8))
