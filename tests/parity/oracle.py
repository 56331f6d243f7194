"""What xprof shows for a trace: its tables as rows by column id."""

import base64
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from helpers.payloads import Row, document_of
from parity.converters import XPROF, convert
from traces import message_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.engine.engine import Engine
from tbprof.xplane.reader import read_space

OP_TABLES = ("framework_op_stats", "kernel_stats")


@dataclass(frozen=True)
class Compared:
    """xprof's answers for a run by tool, and an engine of ours on the same files."""

    theirs: dict[str, Any]
    engine: Engine

    def ours(self, tool: str, **more: Any) -> Any:
        """Our answer of the same form; `more` are fields of the request."""
        return document_of(self.engine, "run", tool, **more)


class Compare(Protocol):
    """Asks both for `tools` of hosts h0, h1, ..., once for each question."""

    def __call__(
        self, *traces: bytes, tools: tuple[str, ...] = OP_TABLES, **params: str
    ) -> Compared: ...


def ask_xprof(
    python: str,
    folder: Path,
    traces: Mapping[str, bytes],
    tools: Sequence[str] = OP_TABLES,
    params: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON of `tools` for the hosts `traces`, copied to `folder`: xprof writes there.

    `params` are those of a request; of the trace viewer under `trace_viewer_options`.
    """
    paths = []
    for host, content in traces.items():
        path = folder / f"{host}.xplane.pb"
        path.write_bytes(content)
        paths.append(str(path))
    return convert(python, XPROF, folder / "answer.json", tools, paths, params)


def ask_xprof_graphs(
    python: str, folder: Path, trace: bytes, questions: Sequence[Mapping[str, Any]]
) -> list[bytes]:
    """What `graph_viewer` answers for each of the options, b"" where it fails.

    xprof reads programs from files beside the trace, which are written here as it writes them.
    """
    path = folder / "h0.xplane.pb"
    path.write_bytes(trace)
    for name, content in Programs(read_space(path)).sources().items():
        (folder / f"{name}.hlo_proto.pb").write_bytes(content)
    asked = json.dumps(
        [str(folder / "answers"), [str(path)], [dict(question) for question in questions]]
    )
    subprocess.run([python, "-c", _GRAPHS], input=asked, text=True, check=True, capture_output=True)
    with (folder / "answers").open() as answers:
        return [base64.b64decode(line) for line in answers.read().split("\n")[:-1]]


_GRAPHS = """
import base64, json
from xprof.convert import raw_to_tool_data
out, paths, questions = json.loads(input())
with open(out, "w") as file:
    for options in questions:
        try:
            params = {"graph_viewer_options": options}
            answer = raw_to_tool_data.xspace_to_tool_data(paths, "graph_viewer", params)[0]
        except ValueError:
            answer = b""
        answer = answer if isinstance(answer, bytes) else (answer or "").encode()
        file.write(base64.b64encode(answer).decode() + "\\n")
"""


def by(rows_: Sequence[Row], *keys: str) -> dict[tuple[Any, ...], Row]:
    """The rows by the values of some columns, which tell them apart."""
    found = {tuple(row[key] for key in keys): row for row in rows_}
    assert len(found) == len(rows_), f"{keys} do not tell the rows apart"
    return found


def renamed(content: bytes, stat: str, to: str, vendor: str) -> bytes:
    """The trace with one stat renamed and its GPUs' vendor stated: what a newer recorder writes."""
    space = message_of(content)
    for plane in space.planes:
        if not plane.name.startswith("/device:GPU:"):
            continue
        for number, entry in list(plane.stat_metadata.items()):
            if entry.name == stat:
                plane.stat_metadata[number].name = to
        number = max(plane.stat_metadata, default=0) + 1
        plane.stat_metadata[number].id = number
        plane.stat_metadata[number].name = "device_vendor"
        plane.stats.add(metadata_id=number, str_value=vendor)
    return bytes(space.SerializeToString())
