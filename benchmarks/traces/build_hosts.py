"""Makes a run of many hosts out of the trace of one, in a logdir outside the repository.

    python -m benchmarks.traces.build_hosts SOURCE.xplane.pb LOGDIR HOSTS [--copies N]

Every host has the steps of SOURCE by their numbers, as a job has, but a clock of its own: it starts
within 2 ms of the others and takes up to 1 % longer for everything. One host, two thirds down the
list, takes 30 % longer: the straggler. The run is named for the number of hosts. `--copies` makes
hosts larger (`scale.py`).
"""

import hashlib
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.command_line import parser_of
from benchmarks.traces import scale
from tbprof._pb import message

STRAGGLER_RATIO = 1.3
_JITTER_RATIO = 0.01
_SKEW_NS = 2_000_000


def build(source: Path, logdir: Path, hosts: int) -> Path:
    """The folder of the run; hosts that are there already are left as they are."""
    folder = logdir / "plugins" / "profile" / f"hosts_{hosts:05}"
    folder.mkdir(parents=True, exist_ok=True)
    content = source.read_bytes()
    for host in range(hosts):
        target = folder / f"{name_of(host)}.xplane.pb"
        if not target.exists():
            space = message("tensorflow.profiler.XSpace").FromString(content)
            _move(space, host, is_straggler=host == straggler(hosts))
            partial = target.with_suffix(".part")
            partial.write_bytes(space.SerializeToString())
            partial.replace(target)
    return folder


def name_of(host: int) -> str:
    """As clusters name workers."""
    return f"pod-{host // 64:02}-worker-{host:04}"


def straggler(hosts: int) -> int:
    """The host that is slow; a single one is nobody's straggler."""
    return hosts * 2 // 3 if hosts > 1 else -1


def _move(space: Any, host: int, *, is_straggler: bool) -> None:
    """Gives a host its own clock and pace."""
    draw = hashlib.sha256(str(host).encode()).digest()
    pace = 1 + _JITTER_RATIO * draw[0] / 255
    if is_straggler:
        pace = STRAGGLER_RATIO
    skew_ns = int.from_bytes(draw[1:5], "little") % _SKEW_NS
    lines = [line for plane in space.planes for line in plane.lines]
    first_ns = min((line.timestamp_ns for line in lines if line.events), default=0)
    for line in lines:
        # Some lines count from 0, not from the epoch.
        after_ns = max(line.timestamp_ns - first_ns, 0)
        line.timestamp_ns += skew_ns + int(after_ns * (pace - 1))
        for event in line.events:
            event.offset_ps = int(event.offset_ps * pace)
            event.duration_ps = int(event.duration_ps * pace)
    if space.hostnames:
        space.hostnames[0] = name_of(host)


def main() -> None:
    """The command line."""
    parser = parser_of(__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("logdir", type=Path)
    parser.add_argument("hosts", type=int)
    parser.add_argument("--copies", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source = args.source
        if args.copies > 1:
            source = Path(scratch) / "scaled.xplane.pb"
            scale.scale(args.source, source, args.copies)
        print(build(source, args.logdir, args.hosts))


if __name__ == "__main__":
    main()
