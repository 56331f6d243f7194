"""Programs of known behaviour, recorded live, with what their own clocks measured."""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.payloads import document_of
from helpers.promises.all_pages import PARTS
from helpers.started.programs import ForkServer, run
from helpers.started.recordings import recorded
from helpers.tables import pairs
from numpy.typing import NDArray

from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir
from tbprof.tools.model.datatable import Table

SCRIPTS = Path(__file__).resolve().parent / "scripts"


@dataclass(frozen=True)
class Shown:
    """What a user sees of a run, beside what the program measured of itself."""

    folder: Path
    params: dict[str, str]

    def measured(self, name: str) -> NDArray[np.float64]:
        """[steps] in ms: "whole", "waiting", … of each step that was recorded, see its script."""
        return np.array([row[name] for row in self._truth["steps"]])

    @property
    def delayed_ms(self) -> float:
        """How long all threads together waited for a processor in each step."""
        return float(self._truth["delayed"])

    @cached_property
    def _truth(self) -> dict[str, Any]:
        path = self.folder.parent / f"{self.folder.name}.json"
        truth: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return truth

    @cached_property
    def opened(self) -> tuple[Engine, str]:
        """An engine on the folder, and the run."""
        engine = Engine(Logdir(str(self.folder)))
        [run] = engine.runs()
        return engine, run

    def tables(self, tool: str) -> tuple[Table, ...]:
        engine, run = self.opened
        return engine.tables(DataRequest(run, tool, params=self.params))

    def document(self, tool: str, layout: str = "rows") -> dict[str, Any]:
        engine, run = self.opened
        answer: dict[str, Any] = document_of(engine, run, tool, layout=layout, params=self.params)
        return answer

    @cached_property
    def overview(self) -> tuple[Table, ...]:
        return self.tables("overview_page")

    @property
    def steps(self) -> Table:
        return self.overview[1]

    def step_column(self, name: str) -> NDArray[np.float64]:
        return np.array(self.steps.column(name).cells(), np.float64)

    @property
    def labels(self) -> list[object]:
        return list(self.steps.column("stepnum").cells())

    @property
    def properties(self) -> dict[str, str]:
        return dict(self.steps.properties)

    @property
    def findings(self) -> dict[object, object]:
        """Severity by id."""
        return pairs(self.overview[7], "id", "severity")

    def figure(self, id_: str) -> float | None:
        value: float | None = pairs(self.overview[8], "id", "value")[id_]
        return value

    def check_sums(self) -> None:
        """The parts of every step add up to it, and the breakdown to the average step.

        Steps whose work was not recorded have neither.
        """
        parts = sum(self.step_column(name) for name in PARTS)
        step = self.step_column("stepTimeMs")
        assert np.allclose(parts, step, rtol=1e-9, atol=1e-9, equal_nan=True)
        table = self.overview[9]
        is_whole = [parent == "" for parent in table.column("parent").cells()]
        whole = sum(np.array(table.column("ms").cells(), np.float64)[is_whole])
        assert whole == pytest.approx(self.figure("step_time_average"))


def sources(script: str) -> list[str]:
    """The code of a recording script, and of those that others import."""
    names = (script, "planting.py", "record_tensorflow.py")
    return [(SCRIPTS / name).read_text(encoding="utf-8") for name in names]


@pytest.fixture(scope="session")
def recording_of(record_python: str, tensorflow_programs: ForkServer) -> Callable[[str], Path]:
    """The folder that a recording script left, once for all runs of the tests."""

    def of(script: str) -> Path:
        code = sources(script)
        is_tensorflow = "import tensorflow" in code[0]

        def record(folder: Path) -> None:
            command = (str(SCRIPTS / script), str(folder))
            if is_tensorflow:
                tensorflow_programs.run(*command)
            else:
                run(record_python, *command)

        return recorded(record_python, code, record)

    return of


def _shown(folder: Path) -> Callable[..., Shown]:
    """What is opened once serves all tests."""

    @functools.cache
    def of(case: str, **params: str) -> Shown:
        return Shown(folder / case, params)

    return of


@pytest.fixture(scope="session")
def tensorflow_runs(recording_of: Callable[[str], Path]) -> Callable[..., Shown]:
    """What is shown of a case of `record_tensorflow.py`."""
    return _shown(recording_of("record_tensorflow.py"))


@pytest.fixture(scope="session")
def jax_runs(recording_of: Callable[[str], Path]) -> Callable[..., Shown]:
    """What is shown of a case of `record_jax.py`."""
    return _shown(recording_of("record_jax.py"))


@pytest.fixture(scope="session")
def planted_runs(recording_of: Callable[[str], Path]) -> Callable[..., Shown]:
    """What is shown of a case of `record_planted_<framework>.py`, "planted" or "without"."""

    @functools.cache
    def of(framework: str) -> Callable[..., Shown]:
        return _shown(recording_of(f"record_planted_{framework}.py"))

    return lambda framework, case, kind: of(framework)(f"{case}/{kind}")
