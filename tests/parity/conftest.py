"""Where the parity tests find xprof, and the older profile plugin with its tf.data tool.

Both register a profile plugin too and bring their own protobuf, so they live in environments of
their own and are called as processes. `make test` makes those and names their interpreters in
TBPROF_XPROF_PYTHON and TBPROF_PROFILE_PYTHON.
"""

import functools
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.patience import PATIENCE_S
from parity.converters import close_converters
from parity.oracle import OP_TABLES, Compare, Compared, ask_xprof

from tbprof.engine.engine import Engine
from tbprof.storage.logdir import Logdir

ROOT = Path(__file__).resolve().parents[2]
XPROF_VERSION = "2.24.2"
PROFILE_VERSION = "2.19.0"


@pytest.fixture(scope="session")
def converters() -> Iterator[None]:
    """Ends the processes that convert."""
    yield
    close_converters()


@pytest.fixture
def new_converters(converters: None) -> Iterator[None]:
    """Processes start in the test, with its environment variables, and end with it."""
    close_converters()
    yield
    close_converters()


@pytest.fixture(scope="session")
def xprof_python(converters: None) -> str:
    """The interpreter that has xprof; a skip with the reason where there is none."""
    return _interpreter("TBPROF_XPROF_PYTHON", ".venv-xprof", "xprof", XPROF_VERSION)


@pytest.fixture(scope="session")
def compare(xprof_python: str, tmp_path_factory: pytest.TempPathFactory) -> Compare:
    """Asks xprof and us for the same run."""

    @functools.cache
    def ask(*traces: bytes, tools: tuple[str, ...] = OP_TABLES, **params: str) -> Compared:
        folder = tmp_path_factory.mktemp("compared") / "run"
        folder.mkdir()
        hosts = {f"h{at}": one for at, one in enumerate(traces)}
        theirs = ask_xprof(xprof_python, folder, hosts, tools, params)
        return Compared(theirs, Engine(Logdir(str(folder))))

    return ask


@pytest.fixture(scope="session")
def trace_of(request: pytest.FixtureRequest, sample_logdir: Path) -> Callable[[str], Path]:
    """The trace of a run of the samples, or of a fixture such as `gpu_trace`."""

    def find(name: str) -> Path:
        sample = sample_logdir / "plugins" / "profile" / name / "host0.xplane.pb"
        return sample if sample.exists() else Path(request.getfixturevalue(name))

    return find


@pytest.fixture(scope="session")
def profile_python(converters: None) -> str:
    """The interpreter that has the last profile plugin with a tf.data tool, or a skip."""
    return _interpreter(
        "TBPROF_PROFILE_PYTHON", ".venv-profile", "tensorboard-plugin-profile", PROFILE_VERSION
    )


def _interpreter(variable: str, environment: str, package: str, version: str) -> str:
    """The interpreter that `variable` names, or of `environment`; a skip without the package."""
    chosen = os.environ.get(variable)
    if chosen is None:
        chosen = str(ROOT / environment / "bin" / "python")
        if not Path(chosen).exists():
            pytest.skip(f"{variable} names no interpreter with {package} ('make test' does)")
    query = f"import importlib.metadata as m; print(m.version({package!r}))"
    try:
        result = subprocess.run(
            [chosen, "-c", query], capture_output=True, text=True, timeout=PATIENCE_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{variable}={chosen} has no {package}: {error}")
    if result.stdout.strip() != version:
        pytest.skip(f"{chosen} has {package} {result.stdout.strip()}, not {version}")
    return chosen
