"""Input pipelines as they ought not to be: in circles, without length, too deep, too many."""

from collections.abc import Callable, Sequence
from typing import Any

from tbprof._pb import message
from traces.drawing import draw
from traces.input_pipelines import HIGH, HOST, ROOT, element, ids

DEPTH, MANY = 120, 3000


def called(*calls: tuple[int, int, int]) -> bytes:
    """The pipeline of a root (1) and its map (2): calls of them, from when and how long in ps."""
    space, line = _thread((ROOT, f"{ROOT}::Map"), ())
    for number, start_ps, duration_ps in calls:
        line.events.add(metadata_id=number, offset_ps=start_ps, duration_ps=duration_ps)
    return bytes(space.SerializeToString())


def feed_each_other() -> bytes:
    names = {"a": ROOT, "b": f"{ROOT}::Map", "c": f"{ROOT}::Map::Batch", "d": f"{ROOT}::Map"}
    stats = {"a": ids(1, 3), "b": ids(2, 1), "c": ids(3, 2), "d": ids(2, 1)}
    return draw({HOST: "x |aaaaaaaa\n|.bbbbbb\n|..cccc\n|...dd"}, names=names, stats=stats)


def made_of_themselves() -> bytes:
    names = {
        "p": f"{ROOT}::Prefetch", "b": f"{ROOT}::Prefetch::Batch", "x": f"{ROOT}::Prefetch",
        "P": "PrefetchProduce", "c": "PrefetchConsume", "r": ROOT,
    }  # fmt: skip
    stats = {"p": ids(2, 1), "b": ids(3, 2), "P": element(1), "c": element(1), "r": ids(1)}
    return draw({HOST: "x |r.PPPPPP\n|..bbbbb\n|...ppp\n|....c"}, names=names, stats=stats)


def deep() -> bytes:
    """`DEPTH` stages, each 3 ps longer than the one inside it."""
    space, line = _thread([ROOT + "::Map" * index for index in range(DEPTH)], ("id", "parent_id"))
    for at in range(DEPTH):
        event = line.events.add(metadata_id=at + 1, offset_ps=at, duration_ps=1000 - 3 * at)
        event.stats.add(metadata_id=1, uint64_value=HIGH + at + 1)
        if at:
            event.stats.add(metadata_id=2, uint64_value=HIGH + at)
    return bytes(space.SerializeToString())


def wide() -> bytes:
    """`MANY` iterators of one stage, 4 of every 10 ps each after the other."""
    stages = (ROOT, f"{ROOT}::Interleave", f"{ROOT}::Interleave[0]::TFRecord")
    space, line = _thread(stages, ("id", "parent_id", "count"))

    def add(kind: int, id_: int, parent: int, start: int, duration: int) -> None:
        event = line.events.add(metadata_id=kind, offset_ps=start, duration_ps=duration)
        event.stats.add(metadata_id=1, uint64_value=HIGH + id_)
        if parent:
            event.stats.add(metadata_id=2, uint64_value=HIGH + parent)
        event.stats.add(metadata_id=3, int64_value=id_)

    add(1, 1, 0, 0, 10 * MANY)
    add(2, 2, 1, 0, 10 * MANY)
    for index in range(MANY):
        add(3, 3 + index, 2, 10 * index, 4)
    return bytes(space.SerializeToString())


def _thread(names: Sequence[str], stats: Sequence[str]) -> tuple[Any, Any]:
    """A space with one host thread, and that thread; names and stats are numbered from 1."""
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name=HOST)
    for table, texts in ((plane.event_metadata, names), (plane.stat_metadata, stats)):
        for number, text in enumerate(texts, start=1):
            table[number].id = number
            table[number].name = text
    return space, plane.lines.add(id=1, name="python")


BAD_PIPELINES: dict[str, Callable[[], bytes]] = {
    "calls of no length": lambda: called((1, 5, 0), (2, 5, 0)),
    "iterators that feed each other": feed_each_other,
    "elements that are made of themselves": made_of_themselves,
    "a hundred stages": deep,
    "thousands of iterators": wide,
    "calls of 40 hours": lambda: called((1, 0, 2**57), *[(2, 0, 2**57)] * 200),
}
