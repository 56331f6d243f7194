"""Texts of whole programs are those of xprof's `graph_viewer`."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from parity.oracle import ask_xprof_graphs

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo_text.hlo_instructions import LONG, SHORT
from tbprof.analysis.hlo_text.hlo_text import module_text
from tbprof.xplane.reader import read_space

pytestmark = pytest.mark.parity

FORMS = {"short_txt": SHORT, "long_txt": LONG}
# Tables of source locations, which xprof prints after the header and numbers differently.
_TABLE = re.compile(r'\d+ ["{]|FileNames|FunctionNames|FileLocations|StackFrames|\Z')
_SOURCE = re.compile(r' ?(?:stack_frame_id=\d+|source_line=\d+|source_file="[^"]*")')


@pytest.mark.parametrize("recording", ["tpu", "amd"])
def test_texts_are_those_of_xprof(
    recording: str, request: pytest.FixtureRequest, xprof_python: str, tmp_path: Path
):
    trace: Path = request.getfixturevalue(f"{recording}_trace")
    sources = Programs(read_space(trace)).sources()
    asked = [(name, form, shown) for name in sources for form in FORMS for shown in (0, 1)]
    answers = ask_xprof_graphs(
        xprof_python, tmp_path, trace.read_bytes(),
        [{"module_name": name, "type": form, "show_metadata": shown, "node_name": ""}
         for name, form, shown in asked],
    )  # fmt: skip
    assert len(asked) == 4 * len(sources)
    for (name, form, shown), answer in zip(asked, answers, strict=True):
        ours = module_text(Module(sources[name]), FORMS[form]._replace(has_metadata=bool(shown)))
        assert _parts(ours) == _parts(answer.decode().split("\n")), (name, form, shown)


def _parts(lines: Iterable[str]) -> list[str]:
    """The header and the computations, in any order.

    Left out is what xprof changes: it drops fields of backend configs and groups of replicas that
    it does not know (`test_xprof_loses_groups_of_replicas`), and numbers source locations in its
    own way.
    """
    parts, part = [], []
    for line in lines:
        if _TABLE.match(line):
            continue
        line = line.replace('"wait_on_operation_queues":[],', "")
        line = line.replace("replica_groups=[4,2]<=[2,4]T(1,0)", "replica_groups={}")
        part.append(_SOURCE.sub("", line))
        if line.startswith(("}", "HloModule")):
            parts.append("\n".join(part))
            part = []
    return sorted(parts)


def test_xprof_loses_groups_of_replicas(xprof_python: str, tpu_trace: Path, tmp_path: Path):
    """The trace's own text of the all-reduce has them."""
    asked = {"module_name": "jit__psum(9646411105960254074)", "type": "short_txt", "node_name": ""}
    [answer] = ask_xprof_graphs(xprof_python, tmp_path, tpu_trace.read_bytes(), [asked])
    assert b"replica_groups={}" in answer
    module = Programs(read_space(tpu_trace)).module(9646411105960254074, "")
    assert module is not None
    assert any("replica_groups=[4,2]<=[2,4]T(1,0)" in line for line in module_text(module))
