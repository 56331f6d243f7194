"""Measures runs of many hosts, as a table for docs/scale.md.

    python -m benchmarks.hosts [--source FILE] [--hosts 1 8 64 ...] [--tool TOOL] [--folder DIR]
        [--xprof-hosts N]

Hosts are made from SOURCE (`build_hosts.py`), outside the repository: 1,024 of 3 MB take 3 GB. Each
figure is one whole process with the files in the page cache: cold, with nothing computed before,
then with all parts kept, and cold on a Dask cluster of two workers that runs already: of that, the
command's own processor time and memory. xprof takes part up to N hosts.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks import measure
from benchmarks.clusters import local_cluster
from benchmarks.command_line import parser_of
from benchmarks.measure import Cost, Failed
from benchmarks.programs import Programs
from benchmarks.traces import build_hosts, build_traces

HOSTS = (1, 8, 64, 512, 1024)
XPROF_PROGRAM = """
import glob, sys
from xprof.convert import raw_to_tool_data
files = sorted(glob.glob(sys.argv[1] + "/*.xplane.pb"))
if raw_to_tool_data.xspace_to_tool_data(files, sys.argv[2], {})[0] is None:
    sys.exit(f"xprof has nothing for {sys.argv[2]}")
"""


def measure_hosts(programs: Programs, run: Path, tool: str) -> tuple[Cost, Cost]:
    """tbprof's export of a run: cold, and with all parts kept."""
    for trace in run.iterdir():
        measure.read_once(trace)
    export = [programs.python, "-m", "tbprof.cli", "export", str(run), "--tool", tool]
    export += ["-o", os.devnull]
    env = programs.cache_at(programs.fresh_cache())
    return measure.run(export, env), measure.run(export, env)


def measure_cluster(programs: Programs, run: Path, tool: str) -> Cost:
    """tbprof's export of a run, cold, by two workers of a Dask cluster on this machine."""
    env = {**os.environ, **programs.cache_at(programs.fresh_cache())}
    export = [programs.python, "-m", "tbprof.cli", "export", str(run), "--tool", tool]
    with local_cluster(programs.python, programs.scratch, 2, env) as address:
        return measure.run([*export, "--scheduler", address, "-o", os.devnull], env)


def measure_xprof(programs: Programs, run: Path, tool: str) -> Cost:
    """xprof's conversion of links to the files, as it writes its results beside them."""
    folder = programs.scratch / "xprof" / "plugins" / "profile" / run.name
    folder.mkdir(parents=True)
    try:
        for trace in run.iterdir():
            (folder / trace.name).symlink_to(trace.resolve())
        return measure.run([programs.xprof_python, "-c", XPROF_PROGRAM, str(folder), tool])
    finally:
        shutil.rmtree(programs.scratch / "xprof")


def row(hosts: int, bytes_: int, cold: Cost, kept: Cost, cluster: Cost, xprof: str) -> str:
    """A line of the table."""
    return (
        f"| {hosts:,} | {bytes_ / 1e6:,.0f} MB | {cold.figures()} "
        f"| {cold.cpu_s / hosts * 1e3:.1f} ms | {kept.figures()} | {cluster.figures()} | {xprof} |"
    )


def main() -> None:
    """The command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--source", type=Path, default=build_traces.default_source())
    parser.add_argument("--hosts", type=int, nargs="*", default=HOSTS)
    parser.add_argument("--tool", default="overview_page")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "tbprof-hosts")
    parser.add_argument("--xprof-hosts", type=int, default=64)
    args = parser.parse_args()
    print(", ".join(f"{name} {value}" for name, value in measure.machine().items()))
    print("| hosts | files | cold | processor time a host | kept | 2 Dask workers | xprof |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with Programs.installed() as programs:
        for hosts in args.hosts:
            run = build_hosts.build(args.source, args.folder, hosts)
            size = sum(trace.stat().st_size for trace in run.iterdir())
            cold, kept = measure_hosts(programs, run, args.tool)
            cluster = measure_cluster(programs, run, args.tool)
            xprof = "–"
            if programs.xprof_python and hosts <= args.xprof_hosts:
                try:
                    xprof = measure_xprof(programs, run, args.tool).figures()
                except Failed as error:
                    xprof = "failed"
                    print(error, file=sys.stderr)
            print(row(hosts, size, cold, kept, cluster, xprof), flush=True)


if __name__ == "__main__":
    main()
