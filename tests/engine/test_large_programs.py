"""What pages get of a large program whose instructions all differ."""

import json
from pathlib import Path

import pytest
from helpers.payloads import body_of

from benchmarks.traces.scale_program import scale_program
from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir
from tbprof.tools import TOOLS

SAMPLE = Path(__file__).parents[2] / "examples/logdir/plugins/profile/jax_cpu_training"
INSTRUCTIONS = 30_000
# Of 50,000 instructions.
MOST_BYTES = 300_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """An engine for a run of one program, which is the sample's in many copies."""
    logdir = tmp_path_factory.mktemp("large")
    target = logdir / "plugins" / "profile" / "large" / "host0.xplane.pb"
    scale_program(SAMPLE / "host0.xplane.pb", target, INSTRUCTIONS, is_varied=True)
    return Engine(Logdir([str(logdir)]))


@pytest.mark.parametrize("tool", ["op_profile", "memory_viewer", "graph_viewer"])
def test_payloads_of_pages_are_small(large: Engine, tool: str):
    body = body_of(large, DataRequest("large", tool, layout="columns"))
    assert len(body.gzipped) <= MOST_BYTES * INSTRUCTIONS / 50_000


@pytest.mark.parametrize("tool", ["hlo_stats", "roofline_model"])
def test_batches_of_tables_are_small(large: Engine, tool: str):
    [found] = [one for one in TOOLS if one.name == tool]
    assert found.is_in_batches
    first_row = 0
    while first_row >= 0:
        request = DataRequest(
            "large", tool, layout="columns", first_row=first_row, params=dict(found.usual)
        )
        body = body_of(large, request)
        assert len(body.gzipped) <= MOST_BYTES
        first_row = _next_row(json.loads(body.content))


def test_parts_of_texts_are_small(large: Engine):
    params = {"type": "text", "first_line": "0"}
    while params["first_line"] != "None":
        body = body_of(large, DataRequest("large", "graph_viewer", layout="columns", params=params))
        assert len(body.gzipped) <= MOST_BYTES
        params = {**params, "first_line": str(json.loads(body.content)["next_line"])}


def _next_row(payload: object) -> int:
    """The first row of the batch after this one, -1 after the last one."""
    table = payload[0] if isinstance(payload, list) else payload
    assert isinstance(table, dict)
    heads = [head["id"] for head in table["cols"]]
    after = table["first_row"] + len(table["columns"][heads.index("rank")])
    assert after > table["first_row"]
    return -1 if after == table["all_rows"] else int(after)
