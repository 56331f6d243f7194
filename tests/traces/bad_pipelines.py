"""Input pipelines as they ought not to be: in circles, without length, too deep, too many."""

from collections.abc import Callable, Iterable
from typing import Any

from traces.drawing import draw
from traces.input_pipelines import HOST, ROOT, element, ids
from traces.space_writer import listed

DEPTH, MANY = 120, 3000


def called(*calls: tuple[int, int, int]) -> bytes:
    """The pipeline of a root (1) and its map (2): calls of them, from when and how long in ps."""
    names = {1: ROOT, 2: f"{ROOT}::Map"}
    return _thread((names[number], *times) for number, *times in calls)


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
    return _thread((ROOT + "::Map" * at, at, 1000 - 3 * at, ids(at + 1, at)) for at in range(DEPTH))


def wide() -> bytes:
    """`MANY` iterators of one stage, 4 of every 10 ps each after the other."""
    stage = f"{ROOT}::Interleave"
    return _thread([
        (ROOT, 0, 10 * MANY, ids(1, count=1)),
        (stage, 0, 10 * MANY, ids(2, 1, count=2)),
        *(
            (f"{stage}[0]::TFRecord", 10 * at, 4, ids(3 + at, 2, count=3 + at))
            for at in range(MANY)
        ),
    ])  # fmt: skip


def _thread(events: Iterable[tuple[Any, ...]]) -> bytes:
    """The events of one host thread."""
    return listed({HOST: {"python": events}})


BAD_PIPELINES: dict[str, Callable[[], bytes]] = {
    "calls of no length": lambda: called((1, 5, 0), (2, 5, 0)),
    "iterators that feed each other": feed_each_other,
    "elements that are made of themselves": made_of_themselves,
    "a hundred stages": deep,
    "thousands of iterators": wide,
    "calls of 40 hours": lambda: called((1, 0, 2**57), *[(2, 0, 2**57)] * 200),
}
