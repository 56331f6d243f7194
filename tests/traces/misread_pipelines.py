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
