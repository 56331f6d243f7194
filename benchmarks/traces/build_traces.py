"""Makes the traces of the benchmarks in benchmarks/data/, unless they are there.

    python -m benchmarks.traces.build_traces [--source SOURCE.xplane.pb] [--copies 30 400]

SOURCE is by default the V100 trace below TBPROF_TRACES (see examples/README.md); where there is
none, the project's own TensorFlow sample stands in, which has no GPU.
"""

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.command_line import parser_of
from benchmarks.traces import scale

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "benchmarks" / "data"
SAMPLE = ROOT / "examples/logdir/plugins/profile/tensorflow_cpu_training/host0.xplane.pb"
COPIES = (30, 400)


def default_source() -> Path:
    """The V100 trace where this machine has it, else the sample."""
    traces = Path(os.environ.get("TBPROF_TRACES", ROOT.parent / "shared" / "traces"))
    files = sorted((traces / "gpu_tf_v100").rglob("*.xplane.pb"))
    return files[0] if files else SAMPLE


def small_traces() -> list[Path]:
    """As they were recorded: the default source, and the trace of a TPU where there is one."""
    source = default_source()
    traces = source.parents[4] if source != SAMPLE else SAMPLE.parent
    return [source, *sorted((traces / "tpu_jax_v6e").rglob("*.xplane.pb"))[:1]]


def build(source: Path, copies: int) -> Path:
    """The trace with `copies` times the events of `source`, made when it is missing."""
    name = "v100" if "v100" in str(source) else "sample"
    target = DATA / f"{name}x{copies}.xplane.pb"
    if not target.exists():
        DATA.mkdir(parents=True, exist_ok=True)
        # In a process of its own: what is measured later counts the memory of its parent.
        command = [sys.executable, "-m", scale.__name__, str(source), str(target), str(copies)]
        subprocess.run(command, check=True, cwd=ROOT)
    return target


def main() -> None:
    """The command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--source", type=Path, default=default_source())
    parser.add_argument("--copies", type=int, nargs="*", default=COPIES)
    args = parser.parse_args()
    for copies in args.copies:
        target = build(args.source, copies)
        print(f"{target}: {target.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
