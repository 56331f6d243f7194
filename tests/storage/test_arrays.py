"""Arrays that are mapped from the cache directory."""

import os
import threading
import zlib

import numpy as np
import pytest
from helpers.kept_files import overwrite
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tbprof.storage import arrays as arrays_module
from tbprof.storage.arrays import SUFFIX, keep_arrays, load_arrays
from tbprof.storage.results import ResultStore

ARRAYS: dict[str, np.ndarray] = {
    "start": np.arange(200_000, dtype=np.int64),
    "type": np.arange(7, dtype=np.int32),
    "empty": np.zeros((0, 3), np.float64),
    "flag": np.array([[True, False], [False, True]]),
    "strided": np.arange(20, dtype=np.uint16)[::3],
}


@pytest.fixture(params=[0, 1 << 20], ids=["mapped", "read"])
def way(request, monkeypatch) -> None:
    monkeypatch.setattr(arrays_module, "_LEAST_MAPPED", request.param)


def same(found, arrays) -> bool:
    return list(found) == list(arrays) and all(
        found[name].dtype == array.dtype
        and found[name].shape == array.shape
        and np.array_equal(found[name], array)
        for name, array in arrays.items()
    )


def test_maps_what_was_kept(store):
    keep_arrays(store, "key", ARRAYS)
    arrays = load_arrays(store, "key")
    assert arrays is not None
    assert same(arrays, ARRAYS)
    assert not arrays["start"].flags.writeable
    assert load_arrays(store, "other") is None


@given(
    st.dictionaries(
        st.text(max_size=5),
        hnp.arrays(
            st.sampled_from([np.int8, np.uint32, np.int64, np.float32]),
            hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5),
        ),
        max_size=4,
    )
)
def test_any_numbers_come_back(tmp_path_factory, arrays):
    store = ResultStore(tmp_path_factory.mktemp("cache"))
    keep_arrays(store, "key", arrays)
    found = load_arrays(store, "key")
    assert found is not None
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].tobytes() == array.tobytes()


def test_texts_and_objects_are_refused(store):
    for array in (np.array(["a"]), np.array([{}])):
        with pytest.raises(ValueError, match="holds no numbers"):
            keep_arrays(store, "key", {"a": array})
    assert load_arrays(store, "key") is None


@pytest.mark.usefixtures("way")
def test_every_damaged_byte_is_noticed(store):
    keep_arrays(store, "key", {"a": np.arange(40, dtype=np.int64), "b": np.arange(3.0)})
    path = store.path("key", SUFFIX)
    content = path.read_bytes()
    meaningless = 0  # what only fills up
    for index in range(len(content)):
        overwrite(path, content[:index] + bytes([content[index] ^ 0x41]) + content[index + 1 :])
        arrays = load_arrays(store, "key")
        meaningless += arrays is not None
        assert arrays is None or same(arrays, {"a": np.arange(40), "b": np.arange(3.0)})
    assert meaningless < 64


def test_damage_anywhere_in_pages_of_large_arrays_is_noticed(store, monkeypatch):
    monkeypatch.setattr(arrays_module, "_PIECE", 3 << 12)
    array = np.arange(1 << 14, dtype=np.int64)
    keep_arrays(store, "key", {"a": array})
    path = store.path("key", SUFFIX)
    content = path.read_bytes()
    first = content.index(array.tobytes())
    page = 1 << 12
    pages = [content[start : start + page] for start in range(first, len(content), page)]
    changes = {
        "a bit": content[: first + 50_001] + b"\x99" + content[first + 50_002 :],
        "two pages": content[:first] + b"".join([pages[1], pages[0], *pages[2:]]),
        "zeros": content[:first] + b"".join([bytes(page), *pages[1:]]),
        "the end": content[:-4] + b"\x01\x00\x00\x00",
    }
    for damage, changed in changes.items():
        overwrite(path, changed)
        assert load_arrays(store, "key") is None, damage
    overwrite(path, content)
    arrays = load_arrays(store, "key")
    assert arrays is not None
    assert same(arrays, {"a": array})


@pytest.mark.usefixtures("way")
def test_every_cut_is_noticed_and_the_file_removed(store):
    keep_arrays(store, "key", {"a": np.arange(40, dtype=np.int64)})
    path = store.path("key", SUFFIX)
    content = path.read_bytes()
    for size in range(len(content)):
        overwrite(path, content[:size])
        assert load_arrays(store, "key") is None
        assert size == 0 or not path.exists()


@pytest.mark.parametrize(
    "header",
    [b"{}", b"[1]", b"[{}]", b"[", b"[[]]", b'[["a","O",[1],0,0]]', b'[["a","<i8",[9e99],0,0]]',
     b'[["a","<i8",[-1],0,0]]', b'[["a","<i8",[1],-8,0]]', b'[["a","<i8",[1],1e3,0]]'],
)  # fmt: skip
def test_foreign_headers_are_no_arrays(store, header):
    keep_arrays(store, "key", {})
    path = store.path("key", SUFFIX)
    sizes = len(header).to_bytes(8, "little") + zlib.crc32(header).to_bytes(8, "little")
    overwrite(path, arrays_module._MAGIC + sizes + header + bytes(64))
    arrays = load_arrays(store, "key")
    assert not arrays


def test_mapped_arrays_outlive_their_file(store):
    keep_arrays(store, "key", ARRAYS)
    arrays = load_arrays(store, "key")
    keep_arrays(store, "key", {"start": np.zeros(5)})
    store.path("key", SUFFIX).unlink()
    assert arrays is not None
    assert same(arrays, ARRAYS)


def test_the_oldest_files_make_room(tmp_path):
    store = ResultStore(tmp_path, max_bytes=250_000)
    for key in range(4):
        keep_arrays(store, str(key), {"a": np.full(10_000, key)})
        os.utime(store.path(str(key), SUFFIX), (key + 1, key + 1))
    store._counted_at = None
    keep_arrays(store, "last", {"a": np.zeros(10_000)})
    assert load_arrays(store, "0") is None
    assert load_arrays(store, "last") is not None
    keep_arrays(store, "huge", {"a": np.zeros(100_000)})
    assert load_arrays(store, "huge") is None


def test_a_directory_that_cannot_be_written_keeps_nothing(unprivileged):
    unprivileged.chmod(0o500)
    store = ResultStore(unprivileged / "cache")
    keep_arrays(store, "key", ARRAYS)
    assert load_arrays(store, "key") is None


def test_readers_see_a_whole_file_while_it_is_replaced(store):
    problems = []
    is_done = threading.Event()

    def read():
        while not is_done.is_set():
            arrays = load_arrays(store, "key")
            if arrays is not None and len(set(arrays["a"].tolist())) != 1:
                problems.append(arrays)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for thread in readers:
        thread.start()
    for value in range(40):
        keep_arrays(store, "key", {"a": np.full(1000, value)})
    is_done.set()
    for thread in readers:
        thread.join()
    assert not problems
