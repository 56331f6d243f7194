"""The memory page of drawn traces, as a browser and as scripts ask for it."""

import json
from collections.abc import Sequence
from typing import Any

import orjson
from traces import space_of
from traces.memory.allocators import GPU, Tensor, memory_trace

from tbprof.advice.summaries import Summaries
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.memory.memory import find_memory
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.analysis.tpu.program_runs import find_program_runs
from tbprof.tools.memory_profile import build
from tbprof.tools.model.tool import Document

# Steps 4 (µs 2 to 7) and 5; `p` is freed, and was allocated before the recording.
#   in use   600 700 700 900 900 940 940 740 690 690 990 990
DRAWING = """
    main  |.a.b.c.BP.d.
    steps |..444444555.
"""
TENSORS: dict[str, Any] = {
    "a": Tensor(100, "model/weights", "persist", 1, "[5,5]", requested=96),
    "b": Tensor(200, "model/relu", "output", 19, "[10,10]"),
    "c": Tensor(40, "model/scratch", "temp"),
    "d": Tensor(300, "model/relu", "output", 19, "[15,10]"),
    "p": Tensor(50, "never seen"),
}
TRACE = memory_trace(DRAWING, before={GPU: 600}, capacity=1000, **TENSORS)
HOST_TRACE = memory_trace(
    "main |x.y", x=Tensor(10, "read", owner="cpu"), y=Tensor(20, owner="cpu"), capacity=100
)


def document(*traces: bytes, **params: str) -> Document:
    spaces = [space_of(trace) for trace in traces]
    parts: dict[str, Sequence[object]] = {
        "memory": [
            find_memory(space, Programs(space), find_steps(space, Programs(space)))
            for space in spaces
        ],
        "program_runs": [find_program_runs(space, Programs(space)) for space in spaces],
    }
    hosts = tuple(f"host{index}" for index in range(len(traces)))
    found = build(Summaries(hosts, parts, params))
    assert isinstance(found, Document)
    return found


def records(*traces: bytes) -> dict[str, Any]:
    """The same as records, as JSON's rows are."""
    found = document(*traces).rows()
    assert isinstance(found, dict)
    return found


def page(*traces: bytes, **params: str) -> dict[str, Any]:
    columns = document(*traces, **params).columns()
    found: dict[str, Any] = json.loads(orjson.dumps(columns, option=orjson.OPT_SERIALIZE_NUMPY))
    return found


def rows(page: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of the breakdown, texts and steps by name."""
    columns = dict(page["breakdown"]["rows"])
    for name in ("op", "region", "dtype", "shape"):
        columns[name] = [page["texts"][at] if at >= 0 else "" for at in columns[name]]
    columns["step"] = [page["steps"]["label"][at] if at >= 0 else "" for at in columns["step"]]
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def row(op: str, size: int, age: str, step: str, since: int, **more: object) -> dict[str, Any]:
    plain = {"region": "", "dtype": "", "shape": "", "requested_bytes": size, "occurrences": 1}
    return {"op": op, "allocated_bytes": size, "age": age, "step": step, "since_ps": since} | (
        plain | more
    )


BEFORE = "allocated before the recording began"
