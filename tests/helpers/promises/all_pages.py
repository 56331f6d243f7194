"""What every tool and timeline answers of drawn runs, checked. One column is 1 µs."""

import csv
import io
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from traces import draw, write_run
from werkzeug.test import Client

from helpers.asking import get
from helpers.payloads import content_of, rows, values_in
from helpers.timeline_client import Timeline
from tbprof.base.errors import TbprofError
from tbprof.engine.engine import DataRequest, Engine
from tbprof.serving.routes.routes import Application
from tbprof.serving.service import Service
from tbprof.tools import TOOLS
from tbprof.tools.model.tool import Tool

# Of names that are a megabyte long.
csv.field_size_limit(2**24)
LAYOUTS: tuple[Literal["rows", "columns"], ...] = ("rows", "columns")
HOST, GPU = "/host:CPU", "/device:GPU:0"


@dataclass(frozen=True)
class Answers:
    """Everything that a run answers.

    `json` by (tool, layout), `csv` by (tool, table), what tools say that answer nothing by their
    name, and timelines by host.
    """

    json: dict[tuple[str, str], Any]
    csv: dict[tuple[str, int], str]
    errors: dict[str, TbprofError]
    timelines: dict[str, Timeline]

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The step table by column id."""
        return rows(self.json["overview_page", "rows"][1])

    @property
    def labels(self) -> list[str]:
        return [row["stepnum"] for row in self.steps]

    @property
    def properties(self) -> dict[str, str]:
        properties: dict[str, str] = self.json["overview_page", "rows"][1]["p"]
        return properties

    @property
    def figures(self) -> dict[str, Any]:
        return {row["id"]: row for row in rows(self.json["overview_page", "rows"][8])}

    @property
    def warnings(self) -> list[str]:
        found: list[str] = self.json["pod_viewer", "rows"]["diagnostics"]["warnings"]
        return found

    @property
    def messages(self) -> list[str]:
        """What the overview says of the steps and the recording."""
        return [row["message"] for row in rows(self.json["overview_page", "rows"][6])]

    @property
    def pod(self) -> Any:
        return self.json["pod_viewer", "columns"]


_NO_NUMBERS = {"nan", "-nan", "inf", "-inf", "infinity"}


def refuse(constant: str) -> object:
    raise AssertionError(f"JSON holds {constant}")


Ask = Callable[..., Answers]


def answers_of(folder: Path, hosts: Mapping[str, bytes], params: dict[str, str]) -> Answers:
    """What all tools answer of hosts (name: trace), in every layout and format, after checks."""
    write_run(folder, hosts)
    service = Service(str(folder))
    answers = Answers({}, {}, {}, {})
    for tool in TOOLS:
        try:
            _ask(service.engine(), tool, params, answers)
        except TbprofError as error:
            answers.errors[tool.name] = error
    client = Client(Application(service))
    for host in hosts:
        if get(client, "timeline", run="run", host=host).status_code != 422:
            answers.timelines[host] = Timeline(client, "run", host=host)
    _check(answers)
    return answers


def _ask(engine: Engine, tool: Tool, params: dict[str, str], answers: Answers) -> None:
    for layout in LAYOUTS:
        request = DataRequest("run", tool.name, layout=layout, params=params)
        content = content_of(engine, request)
        _check_values(content)
        answers.json[tool.name, layout] = json.loads(content, parse_constant=refuse)
    request = DataRequest("run", tool.name, params=params)
    for table in range(1 if tool.is_streamed else len(engine.tables(request))):
        text = content_of(engine, replace(request, format="csv", table=table)).decode("utf-8")
        answers.csv[tool.name, table] = text
        widths = {len(row) for row in csv.reader(io.StringIO(text.replace("\0", " ")))}
        assert len(widths) <= 1, "rows of one width"


def _check_values(content: bytes) -> None:
    """Nothing is NaN or infinite, as a number or in a text."""
    values = values_in(content)
    texts = "\n".join(value for value in values if isinstance(value, str))
    assert not _NO_NUMBERS & set(texts.lower().replace("%", " ").split())
    assert "2.2250738585072014e-308" not in texts
    assert all(math.isfinite(value) for value in values if isinstance(value, float))


def _check(answers: Answers) -> None:
    """Tables hold no NaN; errors say what to do."""
    for text in answers.csv.values():
        assert "nan" not in text.lower().replace("\r\n", ",").split(",")
    assert all(error.message and error.hint for error in answers.errors.values())
    for timeline in answers.timelines.values():
        _check_timeline(timeline)
    if ("overview_page", "rows") in answers.json:
        _check_steps(answers)


def _check_timeline(timeline: Timeline) -> None:
    """All events are shown, and every question about them is answered."""
    assert sum(entry.count for entry in timeline.whole().entries) == timeline.index["events"]
    for warning in timeline.index["warnings"]:
        assert set(warning) == {"code", "message", "hint"}
    timeline.json("search", q="a", limit=3)
    timeline.json("aggregate", by="track")
    timeline.json("calls", order="bottom_up")
    timeline.json("busy", buckets=10)
    names = {key: timeline.which[key] for key in ("run", "host")}
    derived = get(timeline.client, "timeline", part="derived", **names)
    assert derived.status_code == 200


def _check_steps(answers: Answers) -> None:
    """What is unknown is not 0; the parts of a step add up to it."""
    for id_, figure in answers.figures.items():
        if figure["value"] is None:
            assert figure["text"] == "", id_
            assert figure["reason"], id_
        else:
            assert figure["text"], id_
            assert figure["value"] >= 0, id_
    for row in answers.steps:
        parts = [value for name, value in row.items() if name in PARTS]
        assert all(value >= 0 for value in parts)
        assert sum(parts) == pytest.approx(row["stepTimeMs"])


PARTS = (
    "deviceComputeTimeMs", "deviceToDeviceTimeMs", "deviceCollectivesTimeMs", "hostComputeTimeMs",
    "kernelLaunchTimeMs", "infeedTimeMs", "outfeedTimeMs", "compileTimeMs", "otherTimeMs",
)  # fmt: skip


def marked(*numbers: int, name: str = "train", work: str = ".aaa...", **draws: Any) -> bytes:
    """A host thread with a marked step of 7 µs per number, each with an op of 3 µs."""
    letters = "stuvwxyz"[: len(numbers)]
    return draw(
        {HOST: f"python |{''.join(letter * 7 for letter in letters)}\n|{work * len(numbers)}"},
        names=dict.fromkeys(letters, name) | {"a": "x:MatMul"},
        stats={letter: {"_r": 1, "step_num": number}
               for letter, number in zip(letters, numbers, strict=True)},
        **draws,
    )  # fmt: skip
