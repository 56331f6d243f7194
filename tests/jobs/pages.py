"""What tbprof shows of a drawn job: its pages as rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from helpers.payloads import Row, document_of, rows

from jobs.drawn_job import DrawnJob
from tbprof.engine.engine import Engine
from tbprof.storage.logdir import Logdir


@dataclass
class Pages:
    """The pages of one run, each asked for once."""

    engine: Engine
    run: str
    logdir: str

    @classmethod
    def of(cls, drawn: DrawnJob, logdir: Path) -> "Pages":
        """The pages of a job that is written into an empty logdir."""
        run = drawn.write(logdir)
        return cls(Engine(Logdir(str(logdir))), run, str(logdir))

    def document(self, tool: str) -> Any:
        """A tool's answer."""
        return document_of(self.engine, self.run, tool)

    @cached_property
    def overview(self) -> list[Any]:
        """The tables of the overview."""
        return list(self.document("overview_page"))

    @cached_property
    def input_page(self) -> list[Any]:
        """The tables of the input pipeline analyzer."""
        return list(self.document("input_pipeline_analyzer"))

    @property
    def steps(self) -> dict[str, Row]:
        """The steps of the overview by what they are called."""
        return {row["stepnum"]: row for row in rows(self.overview[1])}

    @property
    def properties(self) -> Mapping[str, str]:
        """What the overview says of all steps."""
        return dict(self.overview[1]["p"])

    @property
    def findings(self) -> dict[str, Row]:
        """The findings by id."""
        return {row["id"]: row for row in rows(self.overview[7])}

    @cached_property
    def pod(self) -> dict[str, dict[tuple[str, str], Row]]:
        """The records of the pod viewer, by step, then by (host, worker)."""
        steps = self.document("pod_viewer")["podStatsSequence"]["podStatsMap"]
        return {
            step["stepName"]: {
                (record["hostName"], record["workerName"]): record
                for record in step["podStatsPerCore"].values()
            }
            for step in steps
        }

    @cached_property
    def device_ops(self) -> dict[str, Row]:
        """The device's ops by name, idle time among them."""
        table = rows(self.document("framework_op_stats")[0])
        return {row["operation"]: row for row in table if row["host_or_device"] == "Device"}

    @cached_property
    def events(self) -> list[Row]:
        """The events of the trace viewer, each with the names of its process and thread."""
        every = self.document("trace_viewer")["traceEvents"]
        names: dict[tuple[int, int], str] = {}
        for event in every:
            if event["ph"] == "M" and event["name"] in ("process_name", "thread_name"):
                thread = event["tid"] if event["name"] == "thread_name" else -1
                names[event["pid"], thread] = event["args"]["name"]
        return [
            {
                **event,
                "process": names[event["pid"], -1],
                "thread": names.get((event["pid"], event["tid"]), ""),
            }
            for event in every
            if event["ph"] == "X"
        ]
