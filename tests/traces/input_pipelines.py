"""Input pipelines of drawn traces, and what is found of them in a few words."""

from collections.abc import Mapping
from typing import Any

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.tf_data import TfData, find_tf_data
from traces import COLUMN_PS, Unsigned, drawn_space

HOST = "/host:CPU"
ROOT = "Iterator::Root"
HIGH = 2**63  # half of all ids are above


def ids(of: int, parent: int = 0, **more: Any) -> dict[str, Any]:
    """The stats of a call of the iterator number `of`, whose id takes 64 bits."""
    above = {"parent_id": Unsigned(HIGH + parent)} if parent else {}
    return {"id": Unsigned(HIGH + of), **above, **more}


def element(number: int) -> dict[str, int]:
    return {"element_id": number}


def tf_data(drawing: str, names: dict[str, str], stats: Mapping[str, Any]) -> TfData:
    space = drawn_space({HOST: drawing}, names=names, stats=stats)
    return find_tf_data(space, Programs(space))


def nodes(tf_data: TfData, call: int = 0) -> dict[str, tuple[int, int, int, str]]:
    """(total, self, calls, mark) in µs of each node of a call by type, parents first.

    The mark is "!" for the bottleneck, "*" on the critical path, "" else.
    """
    out = {}
    for node in range(tf_data.first_node[call], tf_data.first_node[call + 1]):
        mark = "!" if tf_data.bottleneck[call] == node else "*" if tf_data.is_critical[node] else ""
        out[tf_data.type_name[tf_data.iterator[node]]] = (
            int(tf_data.total_ps[node]) // COLUMN_PS,
            int(tf_data.self_ps[node]) // COLUMN_PS,
            int(tf_data.calls[node]),
            mark,
        )
    return out


def parents(tf_data: TfData, call: int = 0) -> dict[str, str]:
    """The type that each node of a call feeds, "" for the root."""
    span = range(tf_data.first_node[call], tf_data.first_node[call + 1])
    types = [tf_data.type_name[row] for row in tf_data.iterator.tolist()]
    return {types[node]: types[tf_data.parent[node]] if tf_data.parent[node] >= 0 else ""
            for node in span}  # fmt: skip


def pipelines(tf_data: TfData) -> dict[str, list[tuple[int, int]]]:
    """(start, duration) in µs of the calls of each pipeline."""
    return {
        name: [
            (int(start) // COLUMN_PS, int(duration) // COLUMN_PS)
            for start, duration in zip(
                tf_data.call_start_ps[first:last], tf_data.call_duration_ps[first:last], strict=True
            )
        ]
        for name, first, last in zip(
            tf_data.pipeline_name, tf_data.first_call[:-1], tf_data.first_call[1:], strict=True
        )
    }


MAP = f"{ROOT}::BatchV2::Map"
SIMPLE = {"r": ROOT, "b": f"{ROOT}::BatchV2", "m": MAP, "n": MAP}
MAPPING = {
    "r": ROOT, "p": f"{ROOT}::ParallelMapV2", "c": "ParallelMapConsume", "P": "ParallelMapProduce",
    "i": f"{ROOT}::ParallelMapV2::Range", "f": "InstantiatedCapturedFunction::RunAsync",
    "e": "ExecutorState::Process", "g": "ExecutorState::Process", "s": "MatMul:MatMul",
}  # fmt: skip
MAPPED = {
    "r": ids(1), "p": ids(2, 1), "i": ids(3, 2), "c": element(1), "P": element(1),
    "f": {"id": 77}, "e": {"id": 77}, "g": {"id": 78},
}  # fmt: skip
