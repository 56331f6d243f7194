"""Iterators as they ought not to be: in circles, without length, too many, damaged."""

import json

import pytest
from traces import draw, space_of
from traces.input_pipelines import HIGH, HOST, ROOT, element, ids, nodes, pipelines, tf_data

from tbprof._pb import message
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.tf_data import TfData, find_tf_data


def called(*calls: tuple[int, int, int]) -> TfData:
    """The pipeline of a root (1) and its map (2): calls of them, from when and how long in ps."""
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name=HOST)
    line = plane.lines.add(id=1, name="python")
    for number, name in ((1, ROOT), (2, f"{ROOT}::Map")):
        plane.event_metadata[number].id = number
        plane.event_metadata[number].name = name
    for number, start_ps, duration_ps in calls:
        line.events.add(metadata_id=number, offset_ps=start_ps, duration_ps=duration_ps)
    read = space_of(space.SerializeToString())
    return find_tf_data(read, Programs(read))


def test_calls_of_no_length_are_kept():
    found = called((1, 5, 0), (2, 5, 0))
    assert nodes(found) == {"Root": (0, 0, 1, "*"), "Map": (0, 0, 1, "")}
    assert found.bottleneck.tolist() == [-1]
    assert found.is_cut.tolist() == [False]


def test_iterators_that_feed_each_other_are_stated_and_survived():
    names = {"a": ROOT, "b": f"{ROOT}::Map", "c": f"{ROOT}::Map::Batch", "d": f"{ROOT}::Map"}
    stats = {"a": ids(1, 3), "b": ids(2, 1), "c": ids(3, 2), "d": ids(2, 1)}
    found = tf_data("x |aaaaaaaa\n  |.bbbbbb\n  |..cccc\n  |...dd", names, stats)
    # The inner call of Map is left out: what it did is its caller's own time.
    assert nodes(found) == {"Root": (8, 2, 1, "*"), "Map": (6, 2, 1, "*"), "Batch": (4, 4, 1, "!")}
    assert found.loops == 1


def test_elements_that_are_made_of_themselves_are_cut_loose():
    names = {
        "p": f"{ROOT}::Prefetch", "b": f"{ROOT}::Prefetch::Batch", "x": f"{ROOT}::Prefetch",
        "P": "PrefetchProduce", "c": "PrefetchConsume", "r": ROOT,
    }  # fmt: skip
    stats = {"p": ids(2, 1), "b": ids(3, 2), "P": element(1), "c": element(1), "r": ids(1)}
    found = tf_data("x |r.PPPPPP\n  |..bbbbb\n  |...ppp\n  |....c", names, stats)
    assert found.loops == 1
    assert pipelines(found) == {"Host:0": [(0, 1)]}


def test_a_hundred_stages_deep():
    depth = 120
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name=HOST)
    line = plane.lines.add(id=1, name="python")
    for number, stat in enumerate(("id", "parent_id"), start=1):
        plane.stat_metadata[number].id = number
        plane.stat_metadata[number].name = stat
    for at in range(depth):
        number = at + 1
        plane.event_metadata[number].id = number
        plane.event_metadata[number].name = ROOT + "::Map" * at
        event = line.events.add(metadata_id=number, offset_ps=at, duration_ps=1000 - 3 * at)
        event.stats.add(metadata_id=1, uint64_value=HIGH + number)
        if at:
            event.stats.add(metadata_id=2, uint64_value=HIGH + at)
    space_read = space_of(space.SerializeToString())
    found = find_tf_data(space_read, Programs(space_read))
    assert found.parent.tolist() == list(range(-1, depth - 1))
    assert found.self_ps.tolist() == [3] * (depth - 1) + [1000 - 3 * (depth - 1)]
    assert found.is_critical.all()
    assert found.bottleneck.tolist() == [depth - 1]


def test_thousands_of_iterators_of_one_stage():
    many = 3000
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name=HOST)
    line = plane.lines.add(id=1, name="python")
    for number, stat in enumerate(("id", "parent_id", "count"), start=1):
        plane.stat_metadata[number].id = number
        plane.stat_metadata[number].name = stat
    stages = (ROOT, f"{ROOT}::Interleave", f"{ROOT}::Interleave[0]::TFRecord")
    for number, name in enumerate(stages, start=1):
        plane.event_metadata[number].id = number
        plane.event_metadata[number].name = name

    def add(kind: int, id_: int, parent: int, start: int, duration: int) -> None:
        event = line.events.add(metadata_id=kind, offset_ps=start, duration_ps=duration)
        event.stats.add(metadata_id=1, uint64_value=HIGH + id_)
        if parent:
            event.stats.add(metadata_id=2, uint64_value=HIGH + parent)
        event.stats.add(metadata_id=3, int64_value=id_)

    add(1, 1, 0, 0, 10 * many)
    add(2, 2, 1, 0, 10 * many)
    for at in range(many):
        add(3, 3 + at, 2, 10 * at, 4)
    space_read = space_of(space.SerializeToString())
    found = find_tf_data(space_read, Programs(space_read))
    assert found.iterator.size == many + 2
    assert found.self_ps.tolist() == [0, 6 * many] + [4] * many
    assert json.loads(found.parameters[-1]) == {"count": many + 2}


def test_damaged_times_do_not_wrap_around():
    found = called((1, 0, 2**57), *[(2, 0, 2**57)] * 200)
    assert (found.total_ps > 0).all()
    assert (found.self_ps >= 0).all()


@pytest.mark.parametrize(
    "content", [draw({HOST: ""}), draw({HOST: "main |aaa"}), draw({"/device:GPU:0": "s |a"})]
)
def test_without_iterators_there_are_no_rows(content: bytes):
    space = space_of(content)
    found = find_tf_data(space, Programs(space))
    assert not found.has_events
    assert pipelines(found) == {}
    assert found.first_node.tolist() == [0]
