"""`tbprof precompute`: what it keeps, what it says, and its exit status."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from helpers.commands import Ran, run
from helpers.drawn.small_runs import BROKEN, CPU_TRACE, GPU_TRACE, KERNELS, OPS
from helpers.payloads import content_of
from traces import write, write_run

from tbprof import cli_precompute
from tbprof.base.errors import NoData, TbprofError
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import PartKey
from tbprof.engine.timelines.timeline_cache import TimelineCache
from tbprof.engine.workers.workers import Workers
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile
from tbprof.tools import TOOLS


class NotKept(TbprofError):
    pass


class NoWorkers(Workers):
    """Computes nothing: whatever is asked was not kept."""

    hosts_at_once = 1
    keeps_results = False

    def compute(
        self, file: TraceFile, requested: Sequence[PartKey], on_work: Callable[[str], None]
    ) -> Mapping[PartKey, PartResult]:
        raise NotKept(f"{file.host} {requested}")


@pytest.fixture
def logdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs `a` (with and without a GPU) and `b`, and an empty cache."""
    monkeypatch.setenv("TBPROF_CACHE_DIR", str(tmp_path / "cache"))
    write_run(tmp_path / "logs", {"h0": CPU_TRACE, "h1": GPU_TRACE}, "a")
    write_run(tmp_path / "logs", {"h0": GPU_TRACE}, "b")
    return tmp_path / "logs"


def _said(ran: Ran) -> tuple[int, list[str], list[str]]:
    return ran.exit_code, ran.stdout.splitlines(), ran.stderr.splitlines()


def _from_cache(logdir: Path) -> Engine:
    return Engine(Logdir(str(logdir)), ResultStore(), workers=NoWorkers())


def test_every_page_is_made_of_what_is_kept(logdir: Path) -> None:
    kept = ["b: 1 of 1 hosts cached, 1 new", "a: 2 of 2 hosts cached, 2 new"]
    assert _said(run("precompute", logdir)) == (0, kept, [])
    engine = _from_cache(logdir)
    for name in "ab":
        for tool in TOOLS:
            try:
                assert content_of(engine, DataRequest(name, tool.name))
            except NoData:
                continue


def test_what_is_kept_is_not_computed_again(logdir: Path) -> None:
    run("precompute", logdir, "--run", "a")
    write(logdir / "plugins/profile/a", CPU_TRACE, "h2")
    kept = ["b: 1 of 1 hosts cached, 1 new", "a: 3 of 3 hosts cached, 1 new"]
    assert _said(run("precompute", logdir)) == (0, kept, [])
    assert _said(run("precompute", logdir, "--run", "a"))[1] == ["a: 3 of 3 hosts cached, 0 new"]


def test_only_chosen_runs_and_tools_are_computed(logdir: Path) -> None:
    ran = run("precompute", logdir, "--run", "b", "--tool", KERNELS)
    assert _said(ran) == (0, ["b: 1 of 1 hosts cached, 1 new"], [])
    engine = _from_cache(logdir)
    assert content_of(engine, DataRequest("b", KERNELS))
    for other in (DataRequest("b", OPS), DataRequest("a", KERNELS)):
        with pytest.raises(NotKept):
            engine.data(other)


def test_hosts_that_cannot_be_read_are_listed(logdir: Path) -> None:
    path = write(logdir / "plugins/profile/a", BROKEN, "h9")
    for new in (2, 0):
        status, out, err = _said(run("precompute", logdir, "--run", "a"))
        assert (status, out) == (1, [f"a: 2 of 3 hosts cached, {new} new"])
        (line,) = err
        assert line.startswith("a: host h9 cannot be read:")
        assert path.name in line


def test_timelines_are_kept_if_asked_for(logdir: Path) -> None:
    def refuse(*_: object) -> None:
        raise NotKept("a timeline")

    def open_both() -> None:
        results = ResultStore()
        builders = {"events": refuse, "derived": refuse}
        timelines = TimelineCache(SummaryCache(results), results, builders)  # type: ignore[arg-type]
        (file,) = Logdir(str(logdir)).run("b").files
        for part in builders:
            timelines.open(file, part)

    run("precompute", logdir, "--run", "b")
    with pytest.raises(NotKept):
        open_both()
    assert run("precompute", logdir, "--run", "b", "--timelines").exit_code == 0
    open_both()


def test_a_cache_that_is_too_small_is_an_error(
    logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TBPROF_CACHE_GB", "0.000001")
    status, out, err = _said(run("precompute", logdir, "--run", "b"))
    assert (status, out) == (1, [])
    assert "keeps only 0 of 1 hosts of run 'b'" in err[0]
    assert "TBPROF_CACHE_GB" in err[1]
    monkeypatch.setenv("TBPROF_CACHE_GB", "much")
    assert "'much', which is not a number" in run("precompute", logdir).stderr


def test_a_log_has_a_line_now_and_then(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_precompute, "_LINE_EVERY_S", 0)
    assert _said(run("precompute", logdir, "--run", "a"))[2] == [
        "a: tables: 1 of 2 hosts done", "a: tables: 2 of 2 hosts done"
    ]  # fmt: skip


def test_a_logdir_without_runs_is_an_error(tmp_path: Path) -> None:
    assert "no profile was found" in run("precompute", tmp_path).stderr
