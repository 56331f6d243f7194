"""Measures what an installation takes: the disk beyond TensorBoard's own, and `tbprof --help`.

    python -m benchmarks.installation

Two environments are made: one with TensorBoard, one with TensorBoard and a wheel of tbprof.
"""

import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure, pages
from benchmarks.measure import Cost
from benchmarks.programs import Programs
from benchmarks.traces import build_traces

ROOT = Path(__file__).resolve().parent.parent
HELP_REPEATS = 15


@dataclass(frozen=True, slots=True)
class Installation:
    """Sizes in bytes, bytecode included; `beyond` counts NumPy, which TensorBoard needs, too."""

    wheel: int
    package: int
    beyond: int
    help: Cost
    first_page_ms: float
    next_page_ms: float


def measure_installation(programs: Programs) -> Installation:
    """Builds a wheel, installs it, and opens the overview: the very first page, then others."""
    with tempfile.TemporaryDirectory(prefix="tbprof-install-") as folder:
        wheel = _build(Path(folder))
        alone = _install(Path(folder) / "alone", "tensorboard")
        ours = _install(Path(folder) / "ours", "tensorboard", str(wheel))
        source, python = build_traces.default_source(), str(ours.parents[2] / "bin" / "python")
        times = [
            pages.cold_page_ms(programs, source, "overview_page", python)
            for _ in range(1 + pages.REPEATS)
        ]
        program = ours.parents[2] / "bin" / "tbprof"
        costs = [measure.run([str(program), "--help"]) for _ in range(HELP_REPEATS)]
        numpy = sum(_size(path) for path in ours.glob("numpy*"))
        return Installation(
            wheel=wheel.stat().st_size,
            package=_size(ours / "tbprof"),
            beyond=_size(ours) - _size(alone) + numpy,
            help=measure.middle(costs),
            first_page_ms=times[0],
            next_page_ms=sorted(times[1:])[pages.REPEATS // 2],
        )


def _build(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def _install(folder: Path, *packages: str) -> Path:
    """The folder of packages of a new environment."""
    venv.create(folder, with_pip=True)
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages]
    subprocess.run(command, check=True, capture_output=True)
    return next((folder / "lib").glob("python*/site-packages"))


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def section(sizes: Installation) -> list[str]:
    """Lines of the page."""
    return [
        "## An installation",
        "",
        "| what | figure |",
        "| --- | --- |",
        f"| the wheel | {sizes.wheel / 1e6:.1f} MB |",
        f"| the package, installed | {sizes.package / 1e6:.1f} MB |",
        f"| all that is installed beyond TensorBoard, and NumPy | {sizes.beyond / 1e6:.0f} MB |",
        (
            f"| `tbprof --help`, median of {HELP_REPEATS} "
            f"| {sizes.help.wall_s * 1e3:.0f} ms, {sizes.help.cpu_s * 1e3:.0f} ms processor time |"
        ),
        (
            f"| the very first page, an overview of 3 MB, and such a page of later servers "
            f"| {sizes.first_page_ms:,.0f} ms, {sizes.next_page_ms:,.0f} ms |"
        ),
        "",
    ]


def measure_all(programs: Programs) -> list[str]:
    """The lines of the page's section."""
    return section(measure_installation(programs))


if __name__ == "__main__":
    with Programs.installed() as programs:
        print("\n".join(measure_all(programs)))
