"""What the warm-up compiles is all that real traces need."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tbprof.analysis
import tbprof.timeline
import tbprof.xplane
from tbprof.analysis.hlo import Programs
from tbprof.base.jit import COMPILED, is_prepared
from tbprof.engine.parts import PARTS
from tbprof.engine.warm_up import prepare_kernels
from tbprof.engine.warm_up_timelines import ask_timelines
from tbprof.xplane.reader import read_space

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not COMPILED, reason="Numba is not there: nothing is compiled")


def kernels() -> dict[str, Any]:
    """Every kernel by its full name."""
    found = {}
    for package in (tbprof.analysis, tbprof.timeline, tbprof.xplane):
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                if hasattr(value, "signatures") and value.__module__ == info.name:
                    found[f"{info.name}.{name}"] = value
    return found


def signatures() -> dict[str, list[object]]:
    """The compiled versions of every kernel."""
    return {name: list(kernel.signatures) for name, kernel in kernels().items()}


@pytest.fixture
def prepared() -> dict[str, list[object]]:
    prepare_kernels()
    return signatures()


def compute_all(path: Path) -> None:
    space = read_space(path)
    programs = Programs(space)
    parts = {name: kind.compute(space, programs) for name, kind in PARTS.items()}
    ask_timelines(space, programs, parts["steps"])


# Kernels that nothing but other kernels calls have no signature where those come from the cache.
_LEFT_OUT = """
from tests.engine.test_warm_up import kernels, signatures
from tbprof.engine.warm_up import prepare_kernels

prepare_kernels()
found = kernels()
called = {name for one in found.values() for name in one.py_func.__code__.co_names}
missing = {name for name, known in signatures().items() if not known}
print(sorted(name for name in missing if found[name].__name__ not in called))
"""


def test_the_warm_up_reaches_every_kernel():
    # In a process of its own: others have compiled kernels by now.
    command = [sys.executable, "-c", _LEFT_OUT]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert said.stdout.strip() == "[]"


def test_no_kernel_has_several_signatures(prepared: dict[str, list[object]]):
    # Each takes time to compile before the very first page.
    assert {name: found for name, found in prepared.items() if len(found) > 1} == {}


def test_kernels_are_ready_after_the_warm_up(prepared: dict[str, list[object]]):
    assert is_prepared()
    assert len(prepared) > 10


@pytest.mark.parametrize("run", ["tensorflow_cpu_training", "jax_cpu_training"])
def test_sample_traces_compile_nothing_more(
    prepared: dict[str, list[object]], run: str, sample_logdir: Path
):
    compute_all(sample_logdir / "plugins" / "profile" / run / "host0.xplane.pb")
    assert signatures() == prepared


@pytest.mark.parametrize("trace", ["gpu_trace", "tpu_trace"])
def test_traces_of_accelerators_compile_nothing_more(
    prepared: dict[str, list[object]], trace: str, request: pytest.FixtureRequest
):
    compute_all(request.getfixturevalue(trace))
    assert signatures() == prepared


def test_a_folder_that_cannot_be_written_is_only_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def refuse(*_args: object, **_more: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr("tempfile.TemporaryDirectory", refuse)
    prepare_kernels()
    assert "no space" in caplog.text
