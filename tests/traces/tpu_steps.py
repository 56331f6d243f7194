"""Steps of TPU cores drawn as text, for tests, and what the pages say of them."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from helpers.tables import pairs, records

from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir
from traces import Stats, draw, write_run

TPU, SECOND = "/device:TPU:0", "/device:TPU:1"
_STEPS = "0123456789"


class Op(NamedTuple):
    """An op of a drawing: its HLO category, text, framework op, and stats of its type."""

    category: str
    text: str
    op: str = ""
    stats: Stats = MappingProxyType({})


OPS = {
    "c": Op("convolution fusion", "%fusion.1 = f32[8,128]{1,0:T(8,128)} fusion()", "jit(f)/dot"),
    "i": Op("infeed", "%infeed.1 = (f32[8], token[]) infeed(token[] %t)"),
    "a": Op("all-reduce", "%all-reduce.1 = f32[8] all-reduce(f32[8] %a)", "jit(f)/psum"),
}


def tpu_steps(
    cores: Mapping[str, str | Mapping[str, str]],
    ops: Mapping[str, Op] | None = None,
    *,
    steps: int = 5,
    names: Mapping[str, str] | None = None,
    stats: Mapping[str, Stats] | None = None,
    plane_stats: Mapping[str, Stats] | None = None,
) -> bytes:
    """A trace of TPU cores whose steps are all as drawn, with a line of steps.

    By plane the ops of one step, or the drawings of several lines; `ops` by letter, those of `OPS`
    too; `names` are those of other events.
    """
    known = {**OPS, **(ops or {})}
    planes: dict[str, str] = {}
    for plane, given in cores.items():
        is_sparse = "SparseCore" in plane
        lines = (
            {"Sparse Core Ops" if is_sparse else "XLA Ops": given}
            if isinstance(given, str)
            else given
        )
        width = max(map(len, lines.values()))
        marks = "".join(number * width for number in _STEPS[:steps])
        drawn = [f"{'Sparse Core Steps' if is_sparse else 'Steps'} |{marks}"]
        drawn += [f"{line} |{text.ljust(width, '.') * steps}" for line, text in lines.items()]
        planes[plane] = "\n".join(drawn)
    return draw(
        planes,
        names={**{letter: op.text for letter, op in known.items()}, **(names or {})},
        display_names={
            letter: op.text.lstrip("%").partition(" ")[0] for letter, op in known.items()
        },
        stats={
            **{number: {"group_id": int(number)} for number in _STEPS[:steps]},
            **(stats or {}),
        },
        type_stats={
            letter: {"hlo_category": op.category, "tf_op": _provenance(op.op), **op.stats}
            for letter, op in known.items()
        },
        plane_stats=plane_stats,
    )


def _provenance(op: str) -> str:
    return op if ":" in op or not op else f"{op}:"


class Overview:
    """What the overview says of a trace, or of one per host."""

    def __init__(self, folder: Path, *contents: bytes) -> None:
        hosts = {f"host{number}": content for number, content in enumerate(contents)}
        write_run(folder, hosts, "drawn")
        self.engine = Engine(Logdir(str(folder)))
        self.run = self.engine.runs()[0]
        self.tables = self.engine.tables(DataRequest(self.run, "overview_page"))

    @property
    def shares(self) -> dict[str, float]:
        """The parts of the average step in percent, those that took time."""
        found = pairs(self.tables[9], "id", "share")
        return {name: round(share, 4) for name, share in found.items() if share}

    @property
    def findings(self) -> dict[str, str]:
        """By id the title and the detail of each finding."""
        return {row["id"]: f"{row['title']}. {row['detail']}" for row in records(self.tables[7])}

    @property
    def step(self) -> Mapping[str, str]:
        """The properties of the step table."""
        return self.tables[1].properties

    @property
    def figures(self) -> dict[str, object]:
        """The figures that are known, by id."""
        found = pairs(self.tables[8], "id", "value")
        return {name: value for name, value in found.items() if value is not None}
