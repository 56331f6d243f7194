"""Graphs of drawn traces: stages, self times, critical paths, bottlenecks."""

import json
from pathlib import Path

import pytest
from traces import COLUMN_PS, Unsigned
from traces.input_pipelines import (
    HIGH,
    MAPPED,
    MAPPING,
    ROOT,
    SIMPLE,
    element,
    ids,
    nodes,
    parents,
    pipelines,
    tf_data,
)

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.tf_data import find_tf_data
from tbprof.xplane.reader import read_space


def test_stages_on_one_thread_nest():
    found = tf_data(
        """
        python |rrrrrrrrrrrr..
               |.bbbbbbbbbb
               |..mmm.nnn
        """,
        SIMPLE,
        {"r": ids(1), "b": ids(2, 1), "m": ids(3, 2), "n": ids(3, 2)},
    )
    assert pipelines(found) == {"Host:0": [(0, 12)]}
    assert nodes(found) == {
        "Root": (12, 2, 1, "*"),
        "BatchV2": (10, 4, 1, "*"),
        "Map": (6, 6, 2, "!"),
    }
    assert parents(found) == {"Root": "", "BatchV2": "Root", "Map": "BatchV2"}
    assert found.start_ps.tolist() == [0, COLUMN_PS, 2 * COLUMN_PS]
    assert found.iterator_id.tolist() == [HIGH + 1, HIGH + 2, HIGH + 3]
    assert found.parent_id.tolist() == [0, HIGH + 1, HIGH + 2]
    assert found.long_name == [SIMPLE["r"], SIMPLE["b"], SIMPLE["m"]]
    assert found.threads == ["python"]
    assert (found.loops, found.orphans) == (0, 0)
    assert found.worker_ps.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("spell", [Unsigned, lambda value: value - 2**64, str])
def test_ids_are_unsigned_however_they_are_written(spell):
    stats = {
        "r": {"id": spell(HIGH + 1)},
        "b": {"id": spell(HIGH + 2), "parent_id": spell(HIGH + 1)},
        "m": {"id": Unsigned(HIGH + 3), "parent_id": spell(HIGH + 2)},
    }
    pipelines = tf_data("python |rrrr\n       |.bbb\n       |..m", SIMPLE, stats)
    assert pipelines.iterator_id.tolist() == [HIGH + 1, HIGH + 2, HIGH + 3]
    assert nodes(pipelines) == {
        "Root": (4, 1, 1, "*"),
        "BatchV2": (3, 2, 1, "!"),
        "Map": (1, 1, 1, "*"),
    }


def test_calls_without_ids_go_by_their_names():
    pipelines = tf_data("python |rrrr\n       |.bbb\n       |..m", SIMPLE, {})
    assert nodes(pipelines) == {
        "Root": (4, 1, 1, "*"),
        "BatchV2": (3, 2, 1, "!"),
        "Map": (1, 1, 1, "*"),
    }
    assert len(set(pipelines.iterator_id.tolist())) == 3


def test_children_that_overlap_count_once():
    names = {
        "r": ROOT, "p": f"{ROOT}::ParallelInterleaveV4",
        "c": "ParallelInterleaveConsume", "d": "ParallelInterleaveConsume",
        "P": "ParallelInterleaveProduce", "Q": "ParallelInterleaveProduce",
        "x": f"{ROOT}::ParallelInterleaveV4[0]::TFRecord",
        "y": f"{ROOT}::ParallelInterleaveV4[1]::TextLine",
    }  # fmt: skip
    stats = {
        "r": ids(1), "p": ids(2, 1), "x": ids(3, 2), "y": ids(4, 2),
        "c": element(0), "P": element(0), "d": element(1), "Q": element(1),
    }  # fmt: skip
    pipelines = tf_data(
        """
        python |rrrrrrrrrr
               |pppppppppp
               |........cd
        pool 1 |.PPPPPP
               |.xxxxxx
        pool 2 |..QQQQQQQ
               |..yyyyyyy
        """,
        names,
        stats,
    )
    assert nodes(pipelines) == {
        "Root": (10, 0, 1, "*"),
        "ParallelInterleaveV4": (10, 2, 1, "*"),
        "TFRecord": (6, 6, 1, "*"),
        "TextLine": (7, 7, 1, "!"),
    }


def test_copies_of_a_stage_are_the_bottleneck_together():
    """The first is read ahead; it is critical all the same, as the others are waited for."""
    reader = f"{ROOT}::Interleave[%d]::TFRecord"
    pipelines = tf_data(
        """
        ahead  |..PPPPP
               |...xxx
        python |.......rrrrrrrrrrrrr
               |.......iiiiiiiiiiiii
               |.......C.yyy...zzz..
        """,
        {"r": ROOT, "i": f"{ROOT}::Interleave", "P": "PrefetchProduce", "C": "PrefetchConsume",
         **{letter: reader % number for number, letter in enumerate("xyz")}},
        {"r": ids(1), "i": ids(2, 1), "P": element(1), "C": element(1),
         **{letter: ids(3 + number, 2) for number, letter in enumerate("xyz")}},
    )  # fmt: skip
    assert set(pipelines.stage_name) == {
        ROOT,
        f"{ROOT}::Interleave",
        f"{ROOT}::Interleave::TFRecord",
    }
    names = [pipelines.long_name[row] for row in pipelines.iterator.tolist()]
    assert names == [ROOT, f"{ROOT}::Interleave", *(reader % number for number in range(3))]
    assert (pipelines.self_ps // COLUMN_PS).tolist() == [0, 7, 3, 3, 3]
    assert pipelines.is_critical.all()
    assert pipelines.bottleneck.tolist() == [2]


def test_parameters_are_the_latest_that_a_stage_could_tell():
    names = MAPPING | {"q": f"{ROOT}::ParallelMapV2", "t": f"{ROOT}::ParallelMapV2"}
    told = {"name": "ParallelMap:1", "deterministic": "true", "share": 0.5, "_pt": 3, "group_id": 1}
    stats = MAPPED | {
        "p": ids(2, 1, parallelism=2, buffered_elements=1, **told),
        "q": ids(2, 1, parallelism=8, buffered_elements=3, **told),
        "t": ids(2, 1, parallelism="unavailable", **told),
    }
    pipelines = tf_data("python |rrrrrrrrr\n       |.pp.qq.tt", names, stats)
    assert json.loads(pipelines.parameters[1]) == {
        "name": "ParallelMap:1",
        "deterministic": "true",
        "share": 0.5,
        "parallelism": 8,
        "buffered_elements": 3,
    }
    assert pipelines.parameters[0] == "{}"


def test_a_recorded_loop_names_its_slow_map(sample_logdir: Path):
    # dataset.map(decoded).repeat().batch(8); the optimizer adds Prefetch and makes Map parallel.
    run = sample_logdir / "plugins" / "profile" / "tensorflow_input_bound" / "host0.xplane.pb"
    space = read_space(run)
    found = find_tf_data(space, Programs(space))
    assert [len(calls) for calls in pipelines(found).values()] == [8]
    chain = {
        "Root": "", "Prefetch": "Root", "BatchV2": "Prefetch", "ForeverRepeat": "BatchV2",
        "ParallelMapV2": "ForeverRepeat", "TensorSlice": "ParallelMapV2",
    }  # fmt: skip
    for call in range(8):
        worst = found.iterator[found.bottleneck[call]]
        assert found.type_name[worst] == "ParallelMapV2"
        assert json.loads(found.parameters[worst])["parallelism"] == 2
        assert found.worker_ps[found.bottleneck[call]] > found.call_duration_ps[call]
        if not found.is_cut[call] and "BatchV2" in parents(found, call):
            assert parents(found, call) == chain
    calls = {name: count for name, (_, _, count, _) in nodes(found).items()}
    assert calls == {
        "Root": 1, "Prefetch": 1, "BatchV2": 1, "ForeverRepeat": 8, "ParallelMapV2": 8,
        "TensorSlice": 8,
    }  # fmt: skip
