"""Input ops, work and waiting, from drawn traces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from traces import drawn_space, listed, space_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.input_ops import (
    FUNCTION_OPS,
    InputOps,
    InputRole,
    find_input_ops,
    merge_input_ops,
)
from tbprof.analysis.vocabulary.input_names import (
    InputCategory,
)

HOST = "/host:CPU"
US = 1_000_000
ENQUEUE, DEMANDED, ADVANCED, PREPROCESSING, UNKNOWN = InputCategory


def input_ops(drawing: str, names=None, **more) -> InputOps:
    """The input ops of a host plane."""
    space = drawn_space({HOST: drawing}, names=names, **more)
    return find_input_ops(space, Programs(space))


def figures(ops: InputOps) -> dict[str, tuple[int, ...]]:
    """(count, total, self, wait, background) by op, times in µs."""
    columns = (ops.total_ps, ops.self_ps, ops.wait_ps, ops.background_ps)
    return {
        name: (int(ops.count[row]), *(int(column[row]) // US for column in columns))
        for row, name in enumerate(ops.name)
    }


def activities(ops: InputOps) -> set[tuple[str, str, str, int, int, int, int, str]]:
    """(name, role, thread, threads, count, total, self, last part of the op it was for)."""
    return {
        (
            name,
            InputRole(ops.activity_role[row]).name,
            ops.activity_thread[row],
            int(ops.activity_threads[row]),
            int(ops.activity_count[row]),
            int(ops.activity_total_ps[row]) // US,
            int(ops.activity_self_ps[row]) // US,
            ops.name[of].rpartition("::")[2] if (of := int(ops.activity_op[row])) >= 0 else "",
        )
        for row, name in enumerate(ops.activity_name)
    }


def test_iterators_that_the_program_creates_are_counted_once():
    """With those of their stages; not those that a stage creates for its own inputs."""
    drawing = """
        python |rrrrr.rrr.
               |.mmm...m..
        pool   |....i..i..
    """
    names = {
        "r": "MakeIterator::RootDataset", "m": "MakeIterator::MapDataset",
        "i": "MakeIterator::TFRecordDataset",
    }  # fmt: skip
    ops = input_ops(drawing, names)
    both = merge_input_ops([ops, ops])
    assert (ops.making_count, ops.making_ps // US) == (2, 8)
    assert (both.making_count, both.making_ps // US) == (4, 16)


def test_times_of_nested_iterators():
    drawing = """
        thread |aaaaaaaaaa.a
               |.bbbbbbb....
               |..cc.cc.....
    """
    names = {
        "a": "Iterator::Root",
        "b": "Iterator::Root::Map",
        "c": "Iterator::Root::Map::TFRecord",
    }
    ops = input_ops(drawing, names)
    assert figures(ops) == {
        "Iterator::Root": (2, 11, 4, 0, 0),
        "Iterator::Root::Map": (1, 7, 3, 0, 0),
        "Iterator::Root::Map::TFRecord": (2, 4, 4, 0, 0),
    }
    assert ops.work_of(DEMANDED) == 4 * US
    assert ops.work_of(PREPROCESSING) == 7 * US
    assert ops.has_tf_data
    assert ops.has_pipeline


def test_ops_of_a_function_that_a_stage_calls_are_work_of_the_stage():
    names = {"a": "Iterator::Root::Map", "f": "InstantiatedCapturedFunction::Run", "x": "d:Decode"}
    ops = input_ops("t |aaaaaaaa\n  |.ffffff.\n  |..xxx...", names)
    assert figures(ops) == {"Iterator::Root::Map": (1, 8, 8, 0, 0)}
    assert activities(ops) == {
        ("Iterator::Root::Map", "WORK", "t", 1, 1, 8, 2, "Map"),
        ("InstantiatedCapturedFunction::Run", "WORK", "t", 1, 1, 6, 6, "Map"),
    }


MAP = "Iterator::Root::Prefetch::ParallelMapV2"
PIPELINE = {
    "g": "IteratorGetNextOp::DoCompute",
    "r": "Iterator::Root",
    "p": "Iterator::Root::Prefetch",
    "c": "PrefetchConsume",
    "q": "PrefetchProduce",
    "m": MAP,
    "n": "ParallelMapProduce",
    "f": "InstantiatedCapturedFunction::RunAsync",
    "s": f"{MAP}::TFRecordV2",
    "e": "ExecutorState::Process",
    "d": "ExecutorDoneCallback",
    "x": "decode:DecodeJpeg",
    "o": "ExecutorState::Process",
}
DRAWING = """
    python/1                    |gggggggggggg
                                |.rrrrrrrrrr.
                                |..ppppppppp.
                                |.........c..
    tf_data_iterator_resource/2 |qqqqqqqq....
                                |.mmmmmm.....
    tf_data_iterator_resource/-3|nnnnn.......
                                |.ss.........
                                |...f........
    tf_data_private_pool/4      |....eeeeeed.
                                |.....xxx....
    tf_data_private_pool/5      |oo..........
"""
IDS = {"f": {"id": 77}, "e": {"id": 77}, "d": {"id": 77}, "o": {"id": 5}}


def test_waiting_for_a_buffer_is_told_from_the_work_that_fills_it():
    """The consumer waits 9 in Prefetch, its thread 6 in ParallelMap, whose function works 7."""
    ops = input_ops(DRAWING, PIPELINE, stats=IDS)
    assert figures(ops) == {
        "Iterator::Root": (1, 10, 1, 0, 0),
        "Iterator::Root::Prefetch": (1, 9, 9, 9, 2),
        MAP: (1, 6, 6, 6, 3 + 7),
        f"{MAP}::TFRecordV2": (1, 2, 2, 0, 0),
    }
    work = dict(zip(ops.name, (ops.work_ps // US).tolist(), strict=True))
    assert work == {
        "Iterator::Root": 1,
        "Iterator::Root::Prefetch": 2,
        MAP: 10,
        f"{MAP}::TFRecordV2": 2,
    }
    assert activities(ops) == {
        ("IteratorGetNextOp::DoCompute", "WAIT", "python", 1, 1, 12, 2, ""),
        ("Iterator::Root", "WORK", "python", 1, 1, 10, 1, "Root"),
        ("Iterator::Root::Prefetch", "WAIT", "python", 1, 1, 9, 9, "Prefetch"),
        ("PrefetchProduce", "WORK", "tf_data_iterator_resource", 1, 1, 8, 2, "Prefetch"),
        (MAP, "WAIT", "tf_data_iterator_resource", 1, 1, 6, 6, "ParallelMapV2"),
        ("ParallelMapProduce", "WORK", "tf_data_iterator_resource", 1, 1, 5, 2, "ParallelMapV2"),
        (f"{MAP}::TFRecordV2", "WORK", "tf_data_iterator_resource", 1, 1, 2, 2, "TFRecordV2"),
        (PIPELINE["f"], "WORK", "tf_data_iterator_resource", 1, 1, 1, 1, "ParallelMapV2"),
        (FUNCTION_OPS, "WORK", "tf_data_private_pool", 1, 2, 7, 7, "ParallelMapV2"),
    }
    # Prefetch itself counts as reading in advance, as does the reader below it.
    assert {c: ops.work_of(c) // US for c in InputCategory} == {
        ENQUEUE: 0, DEMANDED: 0, ADVANCED: 4, PREPROCESSING: 11, UNKNOWN: 0,
    }  # fmt: skip


def test_a_caller_that_waits_for_a_pool_to_run_its_function_does_not_work():
    names = PIPELINE | {"f": "InstantiatedCapturedFunction::Run", "a": "Iterator::Root::Map"}
    drawing = "one |aaaaaa\n    |.ffff.\ntwo |..ee.."
    ops = input_ops(drawing, names, stats=IDS)
    # Of 6 it waits for 4; of these the function runs for 2.
    assert figures(ops) == {"Iterator::Root::Map": (1, 6, 6, 4, 2)}
    assert ops.work_ps.tolist() == [4 * US]


def test_work_for_a_stage_that_is_not_in_the_trace_preprocesses():
    ops = input_ops("t |nnnn\n  |.f..", PIPELINE, stats=IDS)
    assert figures(ops) == {}
    assert ops.work_of(PREPROCESSING) == 4 * US
    assert activities(ops) == {
        ("ParallelMapProduce", "WORK", "t", 1, 1, 4, 3, ""),
        (PIPELINE["f"], "WORK", "t", 1, 1, 1, 1, ""),
    }


def test_the_iterator_of_a_device_waits_for_the_hosts_pipeline():
    names = {
        "p": "PrefetchProduce",
        "g": "Iterator::Prefetch::Generator",
        "f": "InstantiatedCapturedFunction::RunWithBorrowedArgs",
    }
    ops = input_ops("t |pppppppp\n  |.gggggg.\n  |..ffff..", names)
    assert figures(ops) == {"Iterator::Prefetch::Generator": (1, 6, 6, 6, 0)}


def test_a_generator_of_the_program_works():
    name = "Iterator::Root::FlatMap[0]::Generator"
    names = {
        "g": name,
        "f": "InstantiatedCapturedFunction::RunWithBorrowedArgs",
        "y": "PyFunc:PyFunc",
    }
    ops = input_ops("a |ggggg\n  |.fff.\nb |.yyy.", names)
    assert figures(ops) == {name: (1, 5, 5, 0, 0)}
    assert ops.work_of(PREPROCESSING) == 5 * US
    assert (ops.python_count, ops.python_ps) == (1, 3 * US)


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ("x/InfeedEnqueueTuple_1:InfeedEnqueueTuple", "x/InfeedEnqueueTuple_1"),
        ("e:InfeedEnqueue", "e"),
        ("MEMCPYHtoD", "MEMCPYHtoD"),
        ("MemcpyH2D", "MemcpyH2D"),
        ("DevicePut", "DevicePut"),
        ("BatchedDevicePut", "BatchedDevicePut"),
        ("DevicePutWithSharding", "DevicePutWithSharding"),
        ("shard_args", "shard_args"),
        ("H2D Dispatch", "H2D Dispatch"),
        ("TfrtTpuClient::BufferFromHostBuffer", "TfrtTpuClient::BufferFromHostBuffer"),
        ("PjRtDevice::TransferToInfeed", "PjRtDevice::TransferToInfeed"),
    ],
)
def test_infeeds_and_copies_to_a_device_enqueue(event, name):
    ops = input_ops("t |aaa.aa", {"a": event})
    assert figures(ops) == {name: (2, 5, 5, 0, 0)}
    assert ops.category.tolist() == [ENQUEUE]
    assert not ops.has_tf_data
    assert ops.has_pipeline == ("nfeed" in event)


@pytest.mark.parametrize(
    "event",
    [
        "x/Batch:read", "x:preprocessing", "x:enqueue", "x:unknown", "x/MatMul:MatMul",
        "MEMCPYDtoH", "MakeIterator::Map", "Iterator", "iterator::Root", "IteratorGetNext:Op",
        "MyProduce", "$iterator.py:1 __next__", "a/Iterator::Root", "ExecutorState::Process",
    ],
)  # fmt: skip
def test_other_events_are_no_input(event):
    ops = input_ops("t |aaa", {"a": event})
    assert not ops.name
    assert not ops.activity_name
    assert not ops.has_pipeline


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("enqueue", ENQUEUE),
        ("read", DEMANDED),
        ("Read", DEMANDED),
        ("preprocessing", PREPROCESSING),
        ("other", UNKNOWN),
        ("something new", UNKNOWN),
    ],
)
def test_instrumented_stages_say_what_they_are(text, expected):
    stats = {"a": {"_ipl_stage_id": 3, "_ipl_stage_cat": text}, "b": {"_ipl_stage_id": 4}}
    ops = input_ops("t |aaaa.b\n  |.cc...", {"a": "my stage", "c": "Iterator::Root"}, stats=stats)
    assert figures(ops)["my stage (stage 3)"] == (1, 4, 2, 0, 0)
    assert ops.category[ops.name.index("my stage (stage 3)")] == expected
    assert ops.has_pipeline
    assert set(ops.name) == {"my stage (stage 3)", "Iterator::Root"}


def test_stages_of_one_name_and_different_ids_are_different_ops():
    stats = {
        letter: {"_ipl_stage_id": id_, "_ipl_stage_cat": "read"}
        for letter, id_ in (("a", 1), ("b", 2))
    }
    ops = input_ops("t |aa.bbb", {"a": "x:Read", "b": "x:Read"}, stats=stats)
    assert figures(ops) == {"x (stage 1)": (1, 2, 2, 0, 0), "x (stage 2)": (1, 3, 3, 0, 0)}


def test_hosts_and_planes_add_up():
    space = drawn_space({HOST: DRAWING, "/host:CPU [7]": DRAWING}, names=PIPELINE, stats=IDS)
    both = find_input_ops(space, Programs(space))
    one = input_ops(DRAWING, PIPELINE, stats=IDS)
    merged = merge_input_ops([one, one])
    for twice in (both, merged):
        assert figures(twice) == {
            name: tuple(2 * value for value in values) for name, values in figures(one).items()
        }
        assert twice.work_of(PREPROCESSING) == 2 * one.work_of(PREPROCESSING)
        assert len(activities(twice)) == len(activities(one))
    assert figures(merge_input_ops([one])) == figures(one)


def test_loaders_in_python_make_the_program_wait_too():
    names = {
        "a": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
        "b": "$dataloader.py:733 __next__",
        "c": "IteratorGetNextOp::DoCompute",
    }
    ops = input_ops("t |aaaaaa.ccc\n  |.bbb......", names)
    assert ops.program_wait_ps == 9 * US
    assert ops.has_pipeline
    assert not ops.has_tf_data
    assert figures(ops) == {}
    assert {row[:2] for row in activities(ops)} == {(name, "WAIT") for name in names.values()}


def test_jax_is_known_by_its_calls():
    assert input_ops("t |aa", {"a": "PjitFunction(train_step)"}).has_jax
    assert not input_ops("t |aa", {"a": "train_step"}).has_jax
    assert input_ops("t |aa", {"a": "$api.py:2035 device_put"}).has_device_put
    assert not input_ops("t |aa", {"a": "$train.py:20 device_put"}).has_device_put


def test_a_host_without_input_has_none():
    empty = input_ops("t |aa", {"a": "x:MatMul"})
    assert figures(empty) == {}
    assert not empty.has_pipeline
    assert all(empty.work_of(category) == 0 for category in InputCategory)
    none = drawn_space({"/device:GPU:0": "s |aa"})
    assert figures(find_input_ops(none, Programs(none))) == {}


KINDS = ["Iterator::Root", "Iterator::Root::Prefetch", "Iterator::Root::Prefetch::Map",
         "PrefetchProduce", "InstantiatedCapturedFunction::Run", "x:Op"]  # fmt: skip


@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 20), st.integers(0, 8), st.integers(0, len(KINDS) - 1)),
            max_size=8,
        ),
        max_size=3,
    )
)
def test_work_and_waiting_are_each_moment_of_a_thread_once(threads):
    """Where events nest properly, activities cover what their thread's events cover, once."""
    lines: dict[str, list[tuple[str, int, int]]] = {}
    moments = 0
    for number, events in enumerate(threads, 1):
        line = lines[f"t/{number}"] = []
        kept: list[tuple[int, int, int]] = []
        for start, length, kind in sorted(events, key=lambda event: (event[0], -event[1])):
            end = start + length
            if all(e <= start or (s <= start and end <= e) for s, e, _ in kept):
                kept.append((start, end, kind))
                line.append((KINDS[kind], start * US, length * US))
        moments += len({m for s, e, kind in kept if kind != 5 for m in range(s, e)})
    opened = space_of(listed({HOST: lines}))
    ops = find_input_ops(opened, Programs(opened))
    assert int(ops.activity_self_ps.sum()) == moments * US
    assert (ops.wait_ps <= ops.self_ps).all()
    assert int(ops.self_ps.sum() + ops.background_ps.sum()) <= moments * US
