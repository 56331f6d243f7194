"""A drawn input pipeline that xprof 2.24.2 shows otherwise than it ran. One column is 1 µs."""

from collections.abc import Mapping
from typing import Any

from traces import draw

NAMES = {
    "r": "Iterator::Root", "b": "Iterator::Root::Batch", "s": "Iterator::Root::Batch::Map",
    "t": "Iterator::Root::Batch::Map::TensorSlice", "f": "InstantiatedCapturedFunction::Run",
}  # fmt: skip
STATS: dict[str, dict[str, Any]] = {
    "r": {"id": 1}, "b": {"id": 2, "parent_id": 1}, "s": {"id": 3, "parent_id": 2},
    "t": {"id": 4, "parent_id": 3},
}  # fmt: skip
DRAWN = (
    "r" * 200 + "." * 50 + "r" * 20,
    "." + "b" * 180 + "." * 72 + "b" * 15,
    ".." + "s" * 60 + "." + "s" * 100,
    "..." + "t" * 10,
)


def stages(
    *lengths: str, names: Mapping[str, str] | None = None, **stats: Mapping[str, Any]
) -> bytes:
    """A trace of one thread whose iterators nest: r(oot), b(atch), s: map, t(ensor slice)."""
    drawing = "\n".join(f"{'python' if not at else '':6} |{row}" for at, row in enumerate(lengths))
    return draw({"/host:CPU": drawing}, names={**NAMES, **(names or {})}, stats={**STATS, **stats})


def through_a_function() -> bytes:
    """A batch that calls the map through a function: self times 10, 20 and 170 µs."""
    return stages("r" * 200, "." + "b" * 190, ".." + "f" * 180, "..." + "s" * 170)


def overlapping_children() -> bytes:
    """Two threads make elements for one that waits: 90 of its 100 µs, not twice 90."""
    return draw(
        {
            "/host:CPU": "python |" + "r" * 100 + "\n       |" + "." * 96 + "cd\n"
            "one    |..." + "p" * 92 + "\n       |...." + "s" * 90 + "\n"
            "two    |..." + "q" * 92 + "\n       |...." + "t" * 90
        },
        names={
            "r": "Iterator::Root", "c": "ParallelMapConsume", "d": "ParallelMapConsume",
            "p": "ParallelMapProduce", "q": "ParallelMapProduce",
            "s": "Iterator::Root::A", "t": "Iterator::Root::B",
        },
        stats={
            "r": {"id": 1}, "s": {"id": 2, "parent_id": 1}, "t": {"id": 3, "parent_id": 1},
            "c": {"element_id": 7}, "d": {"element_id": 8}, "p": {"element_id": 7},
            "q": {"element_id": 8},
        },
    )  # fmt: skip
