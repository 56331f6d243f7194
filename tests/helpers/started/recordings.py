"""Recordings that are made once: kept in `.cache/recordings` by what made them."""

import contextlib
import functools
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

_used: set[Path] = set()
FOLDER = Path(__file__).resolve().parents[3] / ".cache" / "recordings"


def recorded(python: str, sources: Sequence[str], record: Callable[[Path], object]) -> Path:
    """The folder that `record(folder)` filled, in this run of the tests or in an earlier one.

    It is filled again where one of the sources, which are code and arguments, or a package of the
    interpreter has changed. What `record` fails at is not kept.
    """
    key = hashlib.sha256("\0".join((packages(python), *sources)).encode()).hexdigest()[:24]
    folder = FOLDER / key
    with one_at_a_time(key):
        if not folder.exists():
            unfinished = FOLDER / f"{key}.{os.getpid()}"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            record(unfinished)
            unfinished.rename(folder)
    _used.add(folder)
    return folder


@contextlib.contextmanager
def one_at_a_time(key: str) -> Iterator[None]:
    """Other processes of the tests that want the same wait for it."""
    import fcntl

    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def drop_used() -> None:
    """Forgets the recordings of this run: one on which tests fail is made again."""
    for folder in _used:
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def packages(python: str) -> str:
    """The interpreter's version and those of its packages, one a line."""
    query = (
        "import importlib.metadata as m, sys; print(sys.version, "
        "*sorted(f'{d.name}=={d.version}' for d in m.distributions()), sep='\\n')"
    )
    return subprocess.run([python, "-c", query], capture_output=True, text=True, check=True).stdout
