"""The `tbprof` command: serve pages, list tools, export tables.

Exit status: 0, 1 for an error that the message explains, 2 for wrong usage, 130 after Ctrl-C. Each
command imports only what it needs, since scripts run `export` as a separate process. Arguments are
parsed by `argparse`, since more comfortable libraries take 40 ms longer to import.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import tbprof
from tbprof.base.errors import BadRequest, RunNotFound, TbprofError
from tbprof.base.lazy import Later
from tbprof.base.process.frame_stack import on_one_stack
from tbprof.base.process.garbage import collect_garbage
from tbprof.base.process.heap import share_heap
from tbprof.base.process.own_modules import find_own_modules
from tbprof.base.process.terminal import printable, spinner
from tbprof.base.records import dataclass

if TYPE_CHECKING:
    from tbprof.engine.engine import Engine
    from tbprof.engine.requests import Body, Stream
    from tbprof.storage.logdir import Logdir

_WAIT_S = 600.0  # commands show all runs, not an early result
# Free memory that the process keeps; it ends soon.
_KEPT_BYTES = 256 << 20
# There is no second page, so only what is being computed stays in memory.
_FILES = 8
_PATHS_HELP = "a logdir, a run directory, or one or more trace files"


@dataclass(frozen=True, slots=True)
class _Command:
    """One of the commands: `declare` adds its arguments to a parser, `run` takes their values."""

    about: str
    declare: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], None]


@on_one_stack
def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command; raises SystemExit with its status if that is not 0, or after the help."""
    words = sys.argv[1:] if arguments is None else [*arguments]
    name = words[0] if words else ""
    if name not in _COMMANDS:
        _parser().parse_args(words)  # shows the help, or fails
        return
    command = _COMMANDS[name]
    parser = ArgumentParser(
        prog=f"tbprof {name}", description=command.about, formatter_class=_Help, allow_abbrev=False
    )
    command.declare(parser)
    try:
        command.run(parser.parse_intermixed_args(words[1:]))
    except TbprofError as err:
        _fail(err)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Shows defaults if there are any."""

    def __init__(self, prog: str) -> None:
        # Without a width, each declared argument imports `shutil` to determine it.
        super().__init__(prog, width=_columns() - 2)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        help_ = action.help or ""
        has_default = action.default not in (None, "", False) and action.default != []
        if not has_default or action.default == argparse.SUPPRESS or "%(default)s" in help_:
            return help_
        return f"{help_} (default: %(default)s)"


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    with suppress(OSError, ValueError):  # no terminal
        return int(columns) if columns.isdecimal() else os.get_terminal_size().columns or 80
    return 80


def _parser() -> ArgumentParser:
    """The parser that lists the commands; each has its own parser."""
    parser = ArgumentParser(
        prog="tbprof",
        description="Shows XPlane traces of TensorFlow, JAX and PyTorch/XLA.",
        formatter_class=_Help,
    )
    version = f"%(prog)s, version {tbprof.__version__}"
    parser.add_argument("--version", action="version", version=version)
    listed = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for name, command in _COMMANDS.items():
        listed.add_parser(name, help=command.about, add_help=False)
    return parser


def _fail(err: TbprofError) -> NoReturn:
    print(f"tbprof: {printable(err.message)}", file=sys.stderr)
    if err.hint:
        print(f"hint: {printable(err.hint)}", file=sys.stderr)
    sys.exit(1)


def _declare_tools(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help=_PATHS_HELP)
    parser.add_argument(
        "--json", dest="as_json", action="store_true", help="print JSON, one object per run"
    )


def _tools(chosen: Namespace) -> None:
    logdir = _logdir(chosen.paths)
    engine = _engine(logdir)
    with spinner("Reading the traces"):
        sessions = [engine.session(run) for run in _runs(logdir)]
    if chosen.as_json:
        import json

        print(json.dumps(sessions, ensure_ascii=True, indent=2))
        return
    print("\n\n".join("\n".join(_lines(session)) for session in sessions))


def _declare_export(parser: ArgumentParser) -> None:
    from tbprof.cli_scheduler import declare_scheduler

    parser.add_argument("paths", metavar="PATH", nargs="+", help=_PATHS_HELP)
    parser.add_argument("--tool", required=True, help="name of the tool, see `tbprof tools`")
    parser.add_argument("--run", help="name of the run; required if there are several")
    parser.add_argument(
        "--host",
        dest="hosts",
        action="append",
        default=[],
        help="host to show; may be repeated; default: all hosts",
    )
    parser.add_argument(
        "--format",
        choices=["json", "csv"],
        default="json",
        help="JSON as the data route serves it, or CSV: one table, or the events of trace_viewer",
    )
    parser.add_argument(
        "--table", type=_table, default=0, metavar="N", help="which table to print as CSV"
    )
    parser.add_argument(
        "--param",
        dest="params",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a parameter of the tool, such as marker=EVENT; may be repeated",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="file to write, compressed if its name ends in .gz; default: standard output",
    )
    declare_scheduler(parser)


def _table(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not the number of a table, 0 or more")
    return int(text)


def _export(chosen: Namespace) -> None:
    share_heap(_KEPT_BYTES)  # before there are threads
    logdir = _logdir(chosen.paths)
    engine = _engine(logdir, chosen.scheduler)
    from tbprof.engine.engine import DataRequest

    name = _chosen_run(logdir, chosen.run)
    tool = chosen.tool
    request = DataRequest(
        name,
        tool,
        tuple(chosen.hosts),
        format=chosen.format,
        table=chosen.table,
        params=_choices(tool, chosen.params),
    )
    with spinner(f"Computing {tool}", lambda: str(engine.progress(name, tool)["text"])):
        data = engine.data(request)
    _write(data, chosen.output)


_COMMANDS = {
    "serve": _Command(
        "Serve the pages without TensorBoard.",
        Later("tbprof.cli_serve.declare"),
        Later("tbprof.cli_serve.serve"),
    ),
    "tools": _Command(
        "List runs, their hosts, and the tools that have data.", _declare_tools, _tools
    ),
    "export": _Command(
        "Print the tables of a tool: exactly the bytes that the data route serves.",
        _declare_export,
        _export,
    ),
    "precompute": _Command(
        "Compute the data of pages in advance, so that they open immediately.",
        Later("tbprof.cli_precompute.declare"),
        Later("tbprof.cli_precompute.precompute"),
    ),
    "capture": _Command(
        "Record a profile of programs that run a profiler server.",
        Later("tbprof.cli_capture.declare"),
        Later("tbprof.cli_capture.capture"),
    ),
    "doctor": _Command(
        "Diagnose an installation, a logdir, a trace or a profiler server.",
        Later("tbprof.cli_doctor.declare"),
        Later("tbprof.cli_doctor.doctor"),
    ),
}


def _write(data: Body | Stream, output: str | None) -> None:
    """Writes a payload to a file or to standard output."""
    from tbprof.engine.requests import Body

    chunks = iter([data.content]) if isinstance(data, Body) else data.chunks()
    if output is None or output == "-":
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        return
    from tbprof.storage.outputs import write_output

    written = 0

    def count(size: int) -> None:
        nonlocal written
        written = size

    with spinner(f"Writing {output}", lambda: f"{written / 1e6:,.0f} MB"):
        write_output(output, chunks, count)


def _choices(tool: str, params: Sequence[str]) -> dict[str, str]:
    """The values by name. Raises BadRequest for names that the tool does not know."""
    from tbprof.engine.requests import find_tool

    names = find_tool(tool).params
    choices = {}
    for param in params:
        name, equals, value = param.partition("=")
        if not equals or name not in names:
            takes = ", ".join(names) or "nothing"
            raise BadRequest(f"{tool} does not take {param!r}", f"it takes {takes}, as NAME=VALUE")
        choices[name] = value
    return choices


def _logdir(paths: Sequence[str]) -> Logdir:
    from tbprof.storage.logdir import Logdir

    return Logdir(paths, wait_s=_WAIT_S)


def _engine(logdir: Logdir, scheduler: str = "") -> Engine:
    logdir.is_active()  # the search continues while the engine is imported
    from tbprof.engine.engine import Engine
    from tbprof.engine.workers.clusters.scheduler import command_workers
    from tbprof.storage.results import ResultStore

    collect_garbage()
    results = ResultStore()
    workers = command_workers(scheduler, results)
    return Engine(logdir, results, workers=workers, files=_FILES)


def _runs(logdir: Logdir) -> list[str]:
    """The names of the runs, at least one."""
    names = list(logdir.runs())
    if names:
        return names
    report = logdir.report()
    reasons = [f"{entry.path} {entry.reason}" for entry in report.ignored[:3]]
    raise RunNotFound(
        f"no profile was found in {report.logdir}" + "".join(f"; {why}" for why in reasons),
        f"PATH is {_PATHS_HELP}; runs are directories <logdir>/plugins/profile/<run>",
    )


def _chosen_run(logdir: Logdir, run: str | None) -> str:
    if run is not None:
        return logdir.run(run).name
    names = _runs(logdir)
    if len(names) > 1:
        first = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        raise BadRequest(f"there are {len(names):,} runs: {first}", "choose one with --run")
    return names[0]


# How many hosts of a run the output of `tools` lists.
_MOST_HOSTS = 16


def _lines(session: dict[str, Any]) -> Iterator[str]:
    """The output of `tools` for one run; `session` is the response of the route of that name."""
    hosts = session["hosts"]
    megabytes = sum(host["bytes"] for host in hosts) / 1e6
    counted = f"{len(hosts):,} host{'' if len(hosts) == 1 else 's'}"
    yield f"{printable(session['run'])}  ({counted}, {megabytes:,.1f} MB)"
    listed = hosts
    if len(hosts) > _MOST_HOSTS:  # those that cannot be read first
        listed = sorted(hosts, key=lambda host: host["error"] is None)[:_MOST_HOSTS]
    for host in listed:
        error = host["error"]
        suffix = f"  cannot be read: {printable(error['message'])}" if error else ""
        yield f"  host  {printable(host['hostname'])}{suffix}"
    if len(hosts) > len(listed):
        yield f"  and {len(hosts) - len(listed):,} more hosts; --json lists all"
    width = max(len(tool["name"]) for tool in session["tools"])
    for tool in session["tools"]:
        why = "; ".join(filter(None, (tool["reason"], tool["hint"])))
        state = "available" if tool["available"] else f"no data: {printable(why)}"
        yield f"  tool  {tool['name']:<{width}}  {state}"


def run() -> NoReturn:
    """The console script: runs `main`, then exits without teardown.

    Garbage collection while modules are imported would take a fifth of the start. At the end, the
    interpreter would spend 0.1 s, a seventh of an export, on tearing down modules and compiled code
    that the system frees anyway.
    """
    status = 0
    gc.disable()
    find_own_modules()
    # NumPy's BLAS starts a thread per core while it is imported; our matrices are small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        main()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BrokenPipeError:  # the reader has closed the pipe
        status = 1
    except KeyboardInterrupt:
        status = 130
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    _join_writers()
    os._exit(status)


def _join_writers() -> None:
    """Waits for threads that are not daemons, as the interpreter would: they write to the cache."""
    threading = sys.modules.get("threading")  # without it there are none
    if threading is not None:
        for thread in threading.enumerate():
            if thread is not threading.main_thread() and not thread.daemon:
                thread.join()


if __name__ == "__main__":
    run()
