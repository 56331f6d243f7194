"""What the warm-up compiles is all that real traces need."""

import importlib
import pkgutil
from pathlib import Path

import pytest

import tbprof.analysis
import tbprof.xplane
from tbprof.analysis.hlo import Programs
from tbprof.base.jit import COMPILED, is_prepared
from tbprof.engine.parts import PARTS
from tbprof.engine.warm_up import prepare_kernels
from tbprof.xplane.reader import read_space

pytestmark = pytest.mark.skipif(not COMPILED, reason="Numba is not there: nothing is compiled")


def signatures() -> dict[str, list[object]]:
    """The compiled versions of every kernel."""
    found = {}
    for package in (tbprof.analysis, tbprof.xplane):
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                if hasattr(value, "signatures") and value.__module__ == info.name:
                    found[f"{info.name}.{name}"] = list(value.signatures)
    return found


@pytest.fixture
def prepared() -> dict[str, list[object]]:
    prepare_kernels()
    return signatures()


def compute_all(path: Path) -> None:
    space = read_space(path)
    programs = Programs(space)
    for kind in PARTS.values():
        kind.compute(space, programs)


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
