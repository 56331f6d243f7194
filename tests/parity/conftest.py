"""Where the parity tests find xprof.

xprof registers a profile plugin too and brings its own protobuf, so it lives in an environment of
its own and is called as a process. `make test` makes that environment and names its interpreter in
TBPROF_XPROF_PYTHON.
"""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
XPROF_VERSION = "2.24.2"


@pytest.fixture(scope="session")
def xprof_python() -> str:
    """The interpreter that has xprof; a skip with the reason where there is none."""
    chosen = os.environ.get("TBPROF_XPROF_PYTHON")
    if chosen is None:
        chosen = str(ROOT / ".venv-xprof" / "bin" / "python")
        if not Path(chosen).exists():
            pytest.skip("TBPROF_XPROF_PYTHON names no interpreter with xprof ('make test' does)")
    query = "import importlib.metadata as m; print(m.version('xprof'))"
    try:
        result = subprocess.run(
            [chosen, "-c", query], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"TBPROF_XPROF_PYTHON={chosen} has no xprof: {error}")
    if result.stdout.strip() != XPROF_VERSION:
        pytest.skip(f"{chosen} has xprof {result.stdout.strip()}, not {XPROF_VERSION}")
    return chosen
