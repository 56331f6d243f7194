"""The `tbprof` command: serve pages, list tools, export tables.

Exit status: 0, 1 for an error that the message explains, 2 for wrong usage. Whatever a command
does not need is imported by the others alone: `export` runs as a process of its own in scripts.
"""

import gc
import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import click

import tbprof
from tbprof.base.errors import BadRequest, RunNotFound, TbprofError
from tbprof.base.terminal import printable, progress_line
from tbprof.cli_capture import capture
from tbprof.cli_doctor import doctor

if TYPE_CHECKING:
    from tbprof.engine.engine import Engine
    from tbprof.engine.requests import Body, Stream
    from tbprof.storage.logdir import Logdir

_WAIT_S = 600.0  # a command shows every run, not an early answer
_SPINNER_AFTER_S = 0.7
_PATHS_HELP = "a logdir, a run directory, or one or more trace files"


class _Group(click.Group):
    """Turns our errors into one line and a hint."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except TbprofError as err:
            _fail(err)


def _fail(err: TbprofError) -> NoReturn:
    click.echo(f"tbprof: {printable(err.message)}", err=True)
    if err.hint:
        click.echo(f"hint: {printable(err.hint)}", err=True)
    sys.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tbprof.__version__, prog_name="tbprof")
def main() -> None:
    """Look at XPlane traces of TensorFlow, JAX and PyTorch/XLA."""


main.add_command(capture)
main.add_command(doctor)


@main.command()
@click.argument("paths", metavar="LOGDIR...", nargs=-1, required=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=6006,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--allow-host",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Name that browsers may reach this server by; may be repeated; * is any.",
)
@click.option("--no-capture", is_flag=True, help="Show runs, but let nobody capture new ones.")
def serve(
    paths: tuple[str, ...], host: str, port: int, allowed: tuple[str, ...], *, no_capture: bool
) -> None:
    """Serve the pages without TensorBoard."""
    from tbprof.serving import standalone

    _collect_garbage()
    server = standalone.make_standalone(paths, host, port, allowed, can_capture=not no_capture)
    standalone.serve(server, lambda url: click.echo(f"tbprof is at {url} (Ctrl-C ends it)"))
    # Work in the background is cut off now; what it says about that would look like an error.
    logging.disable()


@main.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per run.")
def tools(paths: tuple[str, ...], *, as_json: bool) -> None:
    """List runs, their hosts, and the tools that have data."""
    logdir = _logdir(paths)
    engine = _engine(logdir)
    with _spinner("Reading the traces"):
        sessions = [engine.session(run) for run in _runs(logdir)]
    if as_json:
        click.echo(json.dumps(sessions, ensure_ascii=True, indent=2))
        return
    click.echo("\n\n".join("\n".join(_lines(session)) for session in sessions))


@main.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--tool", required=True, help="Name of the tool, see `tbprof tools`.")
@click.option("--run", help="Name of the run; needed where there are several.")
@click.option("--host", "hosts", multiple=True, help="Host to show; may be repeated; default all.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["json", "csv"]),
    default="json",
    show_default=True,
    help="JSON as the data route serves it, or CSV: one table, or the events of trace_viewer.",
)
@click.option(
    "--table",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Which of the tool's tables to print as CSV.",
)
@click.option(
    "--param",
    "params",
    metavar="NAME=VALUE",
    multiple=True,
    help="A choice that the tool takes, such as marker=EVENT; may be repeated.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File to write, compressed where it ends in .gz; default standard output.",
)
def export(
    paths: tuple[str, ...],
    tool: str,
    run: str | None,
    hosts: tuple[str, ...],
    format_: str,
    table: int,
    params: tuple[str, ...],
    output: str | None,
) -> None:
    """Print what a tool shows: exactly the bytes that the data route serves."""
    logdir = _logdir(paths)
    engine = _engine(logdir)
    from tbprof.engine.engine import DataRequest

    name = _chosen_run(logdir, run)
    request = DataRequest(
        name,
        tool,
        hosts,
        format="csv" if format_ == "csv" else "json",
        table=table,
        params=_choices(tool, params),
    )
    with _spinner(f"Computing {tool}", lambda: str(engine.progress(name, tool)["text"])):
        data = engine.data(request)
    _write(data, output)


def _write(data: "Body | Stream", output: str | None) -> None:
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

    with _spinner(f"Writing {output}", lambda: f"{written / 1e6:,.0f} MB"):
        write_output(output, chunks, count)


def _choices(tool: str, params: tuple[str, ...]) -> dict[str, str]:
    """The values by name; a name that the tool does not know is a mistake to tell."""
    from tbprof.engine.requests import find_tool

    known = find_tool(tool).params
    choices = {}
    for param in params:
        name, equals, value = param.partition("=")
        if not equals or name not in known:
            takes = ", ".join(known) or "nothing"
            raise BadRequest(f"{tool} does not take {param!r}", f"it takes {takes}, as NAME=VALUE")
        choices[name] = value
    return choices


def _logdir(paths: tuple[str, ...]) -> "Logdir":
    from tbprof.storage.logdir import Logdir

    return Logdir(paths, wait_s=_WAIT_S)


def _engine(logdir: "Logdir") -> "Engine":
    logdir.is_active()  # the search goes on while the engine is imported
    from tbprof.engine.engine import Engine
    from tbprof.storage.results import ResultStore

    _collect_garbage()
    return Engine(logdir, ResultStore())


def _collect_garbage() -> None:
    """From now on, and not among what has been imported: that is all in use."""
    gc.freeze()
    gc.enable()


def _runs(logdir: "Logdir") -> list[str]:
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


def _chosen_run(logdir: "Logdir", run: str | None) -> str:
    if run is not None:
        return logdir.run(run).name
    names = _runs(logdir)
    if len(names) > 1:
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        raise BadRequest(f"there are {len(names):,} runs: {shown}", "choose one with --run")
    return names[0]


def _lines(session: dict[str, Any]) -> Iterator[str]:
    """What `tools` prints of one run; `session` is the answer of the route of that name."""
    hosts = session["hosts"]
    megabytes = sum(host["bytes"] for host in hosts) / 1e6
    yield f"{printable(session['run'])}  ({len(hosts)} hosts, {megabytes:,.1f} MB)"
    for host in hosts:
        error = host["error"]
        suffix = f"  cannot be read: {printable(error['message'])}" if error else ""
        yield f"  host  {printable(host['hostname'])}{suffix}"
    width = max(len(tool["name"]) for tool in session["tools"])
    for tool in session["tools"]:
        why = "; ".join(filter(None, (tool["reason"], tool["hint"])))
        state = "available" if tool["available"] else f"no data: {printable(why)}"
        yield f"  tool  {tool['name']:<{width}}  {state}"


@contextmanager
def _spinner(text: str, detail: Callable[[], str] | None = None) -> Iterator[None]:
    """Says on the terminal what is being waited for, where that takes long."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_spin, args=(done, text, detail), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _spin(done: threading.Event, text: str, detail: Callable[[], str] | None) -> None:
    if done.wait(_SPINNER_AFTER_S):
        return
    with progress_line("{desc} {elapsed}") as spinner:
        while not done.wait(0.2):
            more = detail() if detail is not None else ""
            spinner.set_description_str(printable(f"{text}: {more}" if more else text))


def run() -> NoReturn:
    """The console script: `main`, then out at once.

    Looking for garbage while modules are imported would take a fifth of the start. In the end the
    interpreter would spend 0.1 s, a seventh of an export, on taking modules and compiled code
    apart that the system frees anyway.
    """
    status = 0
    gc.disable()
    try:
        main()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody listens any more
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    run()
