"""Graphs and neighbors beside those of xprof's `graph_viewer`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers.payloads import document_of
from parity.oracle import ask_xprof_graphs

from tbprof.engine.engine import Engine
from tbprof.storage.logdir import Logdir

pytestmark = pytest.mark.parity

PROGRAM = {"module_name": "jit_loss_fn(17)"}


@pytest.fixture(scope="module")
def engine(amd_trace: Path) -> Engine:
    return Engine(Logdir(str(amd_trace.parents[3])))


def ask(engine: Engine, **params: str) -> dict[str, Any]:
    params = {**PROGRAM, **params}
    answer: dict[str, Any] = document_of(engine, engine.runs()[0], "graph_viewer", params=params)
    return answer


def test_graphs_have_the_nodes_and_edges_of_xprof(
    engine: Engine, xprof_python: str, amd_trace: Path, tmp_path: Path
):
    """Parameters have their names here, and "Parameter 0" there."""
    asked = [
        (name, width)
        for name in ("gemm_fusion_dot.6", "input_concatenate_fusion", "custom-call.1")
        for width in range(4)
    ]
    answers = ask_xprof_graphs(
        xprof_python, tmp_path, amd_trace.read_bytes(),
        [{**PROGRAM, "type": "graph", "format": "dot", "merge_fusion": 1, "node_name": name,
          "graph_width": width} for name, width in asked],
    )  # fmt: skip
    counts = []
    for (name, width), answer in zip(asked, answers, strict=True):
        theirs = re.findall(r"^\d+ \[label=<<b>([^<]*)", answer.decode(), re.MULTILINE)
        edges = re.findall(r"^\d+ -> \d+ ", answer.decode(), re.MULTILINE)
        ours = ask(engine, node_name=name, graph_width=str(width))
        assert isinstance(ours, dict)
        names = [
            f"Parameter {node['details'][0].split()[-1]}" if node["opcode"] == "parameter"
            else node["name"] for node in ours["nodes"]
        ]  # fmt: skip
        assert sorted(names) == sorted(theirs)
        assert len(ours["edges"]) == len(edges)
        counts.append(len(names))
    assert counts[:4] == [1, 9, 18, 26]


def test_neighbors_are_those_of_xprof(
    engine: Engine, xprof_python: str, amd_trace: Path, tmp_path: Path
):
    """xprof passes elements of tuples only if they are named "get-tuple-element"."""
    names = [node["name"] for node in ask(engine, node_name="main.7")["nodes"]]
    answers = ask_xprof_graphs(
        xprof_python, tmp_path, amd_trace.read_bytes(),
        [{**PROGRAM, "type": "adj_nodes", "node_name": name} for name in names],
    )  # fmt: skip
    is_named_otherwise = re.compile(r"te_fused_attn_\w+\.1[1-9]")
    compared = 0
    for name, answer in zip(names, answers, strict=True):
        theirs = json.loads(answer)
        both = theirs["consumer_names"] + theirs["operand_names"]
        if any(map(is_named_otherwise.match, both)) or not both:
            continue
        ours = ask(engine, type="adj_nodes", node_name=name)
        assert isinstance(ours, dict)
        assert ours["operand_names"] == theirs["operand_names"]
        assert sorted(ours["consumer_names"]) == sorted(theirs["consumer_names"])
        compared += 1
    assert compared >= 12


def test_xprof_has_no_json_and_no_default_format(
    xprof_python: str, amd_trace: Path, tmp_path: Path
):
    node = {**PROGRAM, "node_name": "custom-call.1"}
    answers = ask_xprof_graphs(
        xprof_python, tmp_path, amd_trace.read_bytes(),
        [{**node, "type": "json"}, {**node, "type": "graph"},
         {**node, "type": "graph", "format": "dot"}],
    )  # fmt: skip
    assert answers[:2] == [b"", b""]
    assert answers[2].startswith(b"digraph")
