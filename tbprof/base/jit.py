"""The decorator that compiles our sequential loops, and plain Python where Numba is missing."""

import functools
import hashlib
import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tbprof.base.places import cache_directory

_log = logging.getLogger(__name__)
_F = TypeVar("_F", bound=Callable[..., object])


def _import_numba() -> Any:
    try:
        import numba
    except ImportError as error:  # a Python that Numba does not support yet
        _log.warning(
            "Numba cannot be imported (%s): traces are decoded by plain Python, about 100 times "
            "slower",
            error,
        )
        return None
    return numba


_numba = _import_numba()
COMPILED = _numba is not None

_PACKAGE = Path(__file__).parents[1]
# No kernel is called by C functions: entries for them would take time to compile. None allocates,
# so that arrays need no reference counts: those of the arrays that helpers are passed would take as
# long as reading stats does.
_OPTIONS = {"nogil": True, "no_cfunc_wrapper": True, "_nrt": False}
# Kernels are compiled with the constants of these beside those of their own files.
_ALL_OF = ("events", "xplane")
_CONSTANTS = ("phases.py",)
_KEPT_SECONDS = 30 * 24 * 3600


@functools.cache
def kernel_cache() -> Path:
    """The folder of the machine code of exactly these sources.

    Numba checks the file of a kernel, not those of the kernels it calls, nor its options, so the
    folder is named by a hash of all files that hold kernels or constants of theirs: an upgrade
    never runs a mixture, and a change elsewhere compiles nothing anew.
    """
    digest = hashlib.blake2b(Path(__file__).read_bytes(), digest_size=8)
    for layer in ("events", "xplane", "analysis", "timeline"):
        for path in sorted((_PACKAGE / layer).glob("*.py")):
            content = path.read_bytes()
            if layer in _ALL_OF or path.name in _CONSTANTS or b"@kernel" in content:
                digest.update(content)
    return cache_directory() / "kernels" / digest.hexdigest()


def kernel(function: _F) -> _F:
    """`function` compiled without the interpreter lock, its machine code cached on disk.

    The cache lies in the user's cache directory, since the package's own folder is often
    read-only. Without Numba the function is returned as it is: every kernel is written so that it
    computes the same as plain Python, only slowly. Kernels fill arrays that they are given: they
    cannot make any.
    """
    if _numba is None:
        return function
    previous = _numba.config.CACHE_DIR
    _numba.config.CACHE_DIR = str(kernel_cache())
    compiled: _F
    try:
        compiled = _numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError as error:  # no writable place for the cache
        _log.warning("compiled kernels cannot be cached (%s): each start compiles them anew", error)
        compiled = _numba.njit(**_OPTIONS)(function)
    finally:
        _numba.config.CACHE_DIR = previous
    return compiled


def is_prepared() -> bool:
    """Whether a warm-up has compiled every kernel into the cache before."""
    return not COMPILED or (kernel_cache() / "complete").exists()


def mark_prepared() -> None:
    """Notes that every kernel is in the cache, and drops those of versions not used for a month."""
    folder = kernel_cache()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "complete").touch()
        for other in folder.parent.iterdir():
            stamp = other / "complete"
            age = time.time() - (stamp if stamp.exists() else other).stat().st_mtime
            if other != folder and age > _KEPT_SECONDS:
                shutil.rmtree(other, ignore_errors=True)
    except OSError as error:
        _log.info("the kernel cache cannot be tended (%s)", error)
