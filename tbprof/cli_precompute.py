"""`tbprof precompute`: fills the cache in advance, for example from cron or after training."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from tbprof.base.errors import RunNotFound, TbprofError
from tbprof.base.process.garbage import collect_garbage
from tbprof.base.process.terminal import printable, spinner
from tbprof.cli_scheduler import declare_scheduler
from tbprof.engine.workers.clusters.scheduler import command_workers

if TYPE_CHECKING:
    from tbprof.engine.precompute import Precomputation
    from tbprof.storage.logdir import Logdir
    from tbprof.storage.runs import Run, TraceFile

_WAIT_S = 600.0
_LINE_EVERY_S = 10.0


def declare(parser: ArgumentParser) -> None:
    """Adds the arguments of the command to its parser."""
    parser.epilog = (
        "What is already cached is not computed again. Exit status 1 if any host could not be read."
    )
    paths = "a logdir, a run directory, or one or more trace files"
    parser.add_argument("paths", metavar="PATH", nargs="+", help=paths)
    parser.add_argument(
        "--run",
        dest="runs",
        action="append",
        default=[],
        metavar="NAME",
        help="name of a run; may be repeated; default: all runs",
    )
    parser.add_argument(
        "--tool",
        dest="tools",
        action="append",
        default=[],
        metavar="NAME",
        help="name of a tool; may be repeated; default: all tools",
    )
    parser.add_argument(
        "--timelines",
        action="store_true",
        help="also the timelines of the trace viewer, which this machine builds host by host",
    )
    declare_scheduler(parser)


def precompute(chosen: Namespace) -> None:
    """Fills the cache; raises SystemExit with 1 if any host could not be read."""
    from tbprof.engine.precompute import Precomputation
    from tbprof.engine.requests import find_tool
    from tbprof.storage.logdir import Logdir
    from tbprof.storage.results import ResultStore
    from tbprof.tools import TOOLS

    collect_garbage()
    results = ResultStore()
    runs = _chosen_runs(Logdir(chosen.paths, wait_s=_WAIT_S), chosen.runs)
    tools = [find_tool(name) for name in chosen.tools] or TOOLS
    ahead = Precomputation(results, tools, command_workers(chosen.scheduler, results))
    are_whole = [_keep_run(ahead, run, with_timelines=chosen.timelines) for run in runs]
    sys.exit(0 if all(are_whole) else 1)


def _chosen_runs(logdir: Logdir, names: Sequence[str]) -> list[Run]:
    runs = [logdir.run(name) for name in names or logdir.runs()]
    if not runs:
        raise RunNotFound(f"no profile was found in {logdir.report().logdir}")
    return runs


def _keep_run(ahead: Precomputation, run: Run, *, with_timelines: bool) -> bool:
    """Whether all hosts of a run could be read; prints what was done."""
    new = [file for file in run.files if not ahead.is_kept(file)]
    failed = _failures(f"{run.name}: tables", len(new), ahead.keep(new))
    if with_timelines:
        good = [file for file in run.files if file not in failed]
        failed |= _failures(f"{run.name}: timelines", len(good), ahead.keep_timelines(good))
    for file, error in failed.items():
        _say(f"{run.name}: host {file.host} cannot be read: {error.message}")
    kept = sum(map(ahead.is_kept, run.files))
    if kept + len(failed) < len(run.files):
        raise ahead.lacks_space(run, kept)
    added = sum(file not in failed for file in new)
    counts = f"{kept:,} of {len(run.files):,} hosts cached, {added:,} new"
    print(printable(f"{run.name}: {counts}"), flush=True)
    return not failed


def _failures(
    task: str, hosts: int, done: Iterator[tuple[TraceFile, TbprofError | None]]
) -> dict[TraceFile, TbprofError]:
    """The hosts that cannot be read. Shows progress, in lines if there is no terminal."""
    from tbprof.engine.progress import time_left

    failed: dict[TraceFile, TbprofError] = {}
    begun = said = monotonic()
    finished = 0

    def how_far() -> str:
        left = time_left(finished, hosts, monotonic() - begun)
        return f"{finished:,} of {hosts:,} hosts done" + (f", {left}" if left else "")

    with spinner(task, how_far):
        for file, error in done:
            finished += 1
            if error is not None:
                failed[file] = error
            if not sys.stderr.isatty() and monotonic() - said >= _LINE_EVERY_S:
                said = monotonic()
                _say(f"{task}: {how_far()}")
    return failed


def _say(line: str) -> None:
    print(printable(line), file=sys.stderr, flush=True)
