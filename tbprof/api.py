"""Traces from Python: `tbprof.open_logdir(path)`, its runs, their tools, and tables of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tbprof.base.errors import BadRequest, Notice, RunNotFound
from tbprof.base.records import dataclass, replace
from tbprof.engine.engine import Body, DataRequest, Engine
from tbprof.storage.logdir import Logdir
from tbprof.storage.outputs import write_output
from tbprof.storage.results import ResultStore
from tbprof.tools.model.datatable import Table

if TYPE_CHECKING:
    import pandas as pd

_WAIT_S = 600.0  # scripts need all runs, not an early result


def open_logdir(path: str | Path | Sequence[str | Path], *, cache: bool = True) -> LogdirView:
    """The runs below a logdir, or of a run directory, or of trace files; any fsspec URL.

    With `cache`, results are kept in the user's cache directory, so that the next process finds
    them. Nothing is written into the logdir.
    """
    paths = [path] if isinstance(path, (str, Path)) else path
    logdir = Logdir([str(path) for path in paths], wait_s=_WAIT_S)
    return LogdirView(logdir, Engine(logdir, ResultStore() if cache else None))


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool: its tables, with warnings about what is missing."""

    tables: tuple[Table, ...]

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """The warnings of all tables."""
        return tuple(notice for table in self.tables for notice in table.warnings)

    def to_pandas(self, table: int = 0) -> pd.DataFrame:
        """One table, a column per column id; NaN if nothing was measured. Needs pandas."""
        import pandas as pd

        if not 0 <= table < len(self.tables):
            raise BadRequest(
                f"there is no table {table}", f"tables are 0 to {len(self.tables) - 1}"
            )
        columns = {column.id: column.values for column in self.tables[table].columns}
        frame: pd.DataFrame = pd.DataFrame(columns)
        return frame


@dataclass(frozen=True, slots=True)
class Trace:
    """Every event of some hosts, or of a time range; read again for each file or iterator.

    Raises TbprofError if there are no events, or if a trace cannot be read to its end.
    """

    _engine: Engine
    _run: str
    _hosts: tuple[str, ...]
    _params: Mapping[str, str]

    def chunks(self, format_: Literal["json", "csv"] = "json") -> Iterator[bytes]:
        """Chrome trace JSON, for Perfetto and chrome://tracing, or CSV: in pieces of any size."""
        request = DataRequest(self._run, "trace_viewer", self._hosts, "rows", format_)
        data = self._engine.data(replace(request, params=self._params))
        return iter([data.content]) if isinstance(data, Body) else data.chunks()

    def to_chrome_json(self, path: str | Path) -> None:
        """Writes Chrome trace JSON to a file, compressed if its name ends in `.gz`."""
        write_output(str(path), self.chunks())

    def to_csv(self, path: str | Path) -> None:
        """Writes a row per event to a file, compressed if its name ends in `.gz`."""
        write_output(str(path), self.chunks("csv"))


@dataclass(frozen=True, slots=True)
class RunView:
    """One run of a logdir."""

    name: str
    _engine: Engine
    _logdir: Logdir

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of its hosts."""
        return tuple(file.host for file in self._logdir.run(self.name).files)

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that have data for this run."""
        return tuple(self._engine.run_tools(self.name))

    def tool(
        self,
        name: str,
        hosts: Sequence[str] | None = None,
        *,
        marker: str = "",
        params: Mapping[str, str] | None = None,
    ) -> ToolResult:
        """The tool's tables over these hosts, all by default. Raises TbprofError.

        `marker` is the event that begins each step, for tools that are about steps. `params` are
        other parameters of the tool, by name, as for its route: `{"memory_id": "GPU_0_bfc"}`.
        """
        chosen = (hosts,) if isinstance(hosts, str) else tuple(hosts or ())
        params = {**(params or {}), **({"marker": marker} if marker else {})}
        return ToolResult(self._engine.tables(DataRequest(self.name, name, chosen, params=params)))

    def trace(
        self,
        hosts: Sequence[str] | None = None,
        *,
        start_ms: float | None = None,
        end_ms: float | None = None,
        max_gb: float | None = None,
    ) -> Trace:
        """Every event of these hosts, all by default, that overlaps a range of the trace's time.

        `max_gb` allows a larger export than usual for traces of their size.
        """
        chosen = (hosts,) if isinstance(hosts, str) else tuple(hosts or ())
        numbers = {"start_time_ms": start_ms, "end_time_ms": end_ms, "max_gb": max_gb}
        params = {
            name: repr(float(number)) for name, number in numbers.items() if number is not None
        }
        return Trace(self._engine, self.name, chosen, params)


class _Runs(Mapping[str, RunView]):
    """The runs by name, in their current state."""

    def __init__(self, logdir: Logdir, engine: Engine) -> None:
        self._logdir = logdir
        self._engine = engine

    def __getitem__(self, name: str) -> RunView:
        try:
            run = self._logdir.run(name)
        except RunNotFound as err:
            raise KeyError(err.message) from err
        return RunView(run.name, self._engine, self._logdir)

    def __iter__(self) -> Iterator[str]:
        return iter(self._logdir.runs())

    def __len__(self) -> int:
        return len(self._logdir.runs())

    def __repr__(self) -> str:
        return f"<runs {list(self)}>"


class LogdirView:
    """A logdir: `runs` maps names to runs, newest first."""

    def __init__(self, logdir: Logdir, engine: Engine) -> None:
        self.runs: Mapping[str, RunView] = _Runs(logdir, engine)
