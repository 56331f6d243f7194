"""Programs as their compiler sees them, compiled anew; nothing runs, so no clock matters."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.started.programs import QUICK_TO_COMPILE
from helpers.started.recordings import recorded

FOLDER = Path(__file__).parent


@pytest.fixture(scope="session")
def compiled(record_python: str) -> Callable[..., list[str]]:
    """The lines that a script of this folder writes, given these files and texts."""

    def of(script: str, *arguments: Path | str) -> list[str]:
        def record(folder: Path) -> None:
            command = [record_python, FOLDER / "scripts" / script, folder / "lines", *arguments]
            environment = {"JAX_PLATFORMS": "cpu", "PATH": "", "XLA_FLAGS": QUICK_TO_COMPILE}
            subprocess.run(list(map(str, command)), check=True, env=environment)

        scripts = [path.read_text() for path in sorted((FOLDER / "scripts").glob("*.py"))]
        given = [
            argument.read_text() if isinstance(argument, Path) else argument
            for argument in arguments
        ]
        made = recorded(record_python, [script, QUICK_TO_COMPILE, *scripts, *given], record)
        return (made / "lines").read_text(encoding="utf-8").splitlines()

    return of
